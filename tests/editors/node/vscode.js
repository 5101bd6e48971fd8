"use strict";
// As much of the editor's own module as the extension asks for: values that keep what they are made of, and registries that can be asked.

class Event {
  constructor() {
    this.listeners = new Set();
    this.on = (listener) => {
      this.listeners.add(listener);
      return { dispose: () => this.listeners.delete(listener) };
    };
  }
  fire(value) {
    for (const listener of [...this.listeners]) listener(value);
  }
}

/** A class whose objects keep their arguments under these names. */
const value = (...names) => class {
  constructor(...given) {
    names.forEach((name, at) => (this[name] = given[at]));
  }
};

class Uri {
  constructor(text) {
    this.text = text;
    this.scheme = text.split(":", 1)[0];
    this.fsPath = decodeURIComponent(text.replace(/^file:\/\//, ""));
  }
  static parse(text) {
    return new Uri(text);
  }
  toString() {
    return this.text;
  }
}

class WorkspaceEdit {
  constructor() {
    this.edits = [];
  }
  set(uri, edits) {
    this.edits.push([uri.toString(), edits]);
  }
}

class MarkdownString {
  constructor() {
    this.value = "";
  }
  appendMarkdown(text) {
    this.value += text;
    return this;
  }
  appendText(text) {
    this.value += text;
    return this;
  }
  appendCodeblock(text, language) {
    this.value += `\`\`\`${language}\n${text}\n\`\`\``;
    return this;
  }
}

class CodeActionKind {
  constructor(text) {
    this.value = text;
  }
  append(part) {
    return new CodeActionKind(this.value ? `${this.value}.${part}` : part);
  }
}
CodeActionKind.Empty = new CodeActionKind("");

const opened = new Event();
const closed = new Event();
const changed = new Event();
const saved = new Event();
const active = new Event();
const found = new Map();
const heard = new Event();
const providers = {};
const metadata = {};
const commands = {};
const panels = [];
const shown = [];
const logged = [];

const register = (name) => (...given) => {
  const [provider, about] = given.filter((each) => typeof each === "object" && !Array.isArray(each));
  providers[name] = provider;
  metadata[name] = about;
  return { dispose: () => delete providers[name] };
};

const features = [
  "Hover", "Definition", "Reference", "DocumentHighlight", "Rename", "CompletionItem", "DocumentSymbol", "WorkspaceSymbol", "FoldingRange",
  "SelectionRange", "DocumentFormattingEdit", "DocumentSemanticTokens", "DocumentRangeSemanticTokens", "InlayHints", "CallHierarchy",
];
const languages = {
  createDiagnosticCollection: () => ({
    set: (uri, list) => {
      found.set(uri.toString(), list);
      heard.fire(uri.toString());
    },
    delete: (uri) => found.delete(uri.toString()),
    clear: () => found.clear(),
    dispose: () => found.clear(),
  }),
  match: (_selector, document) => (document.languageId === "dcdl" ? 10 : 0),
  registerCodeActionsProvider: register("CodeActions"),
};
for (const name of features) languages[`register${name}Provider`] = register(name);

const workspace = {
  textDocuments: [],
  workspaceFolders: [],
  getConfiguration: () => ({ get: () => process.env.STATEWARD_PROGRAM }),
  applyEdit: async () => true,
  onDidOpenTextDocument: opened.on,
  onDidCloseTextDocument: closed.on,
  onDidChangeTextDocument: changed.on,
  onDidSaveTextDocument: saved.on,
};

const window = {
  activeTextEditor: undefined,
  createOutputChannel: () => ({ append: (text) => logged.push(text), appendLine: (text) => logged.push(text), dispose() {} }),
  showErrorMessage: (text) => shown.push(text),
  onDidChangeActiveTextEditor: active.on,
  createWebviewPanel: () => {
    const panel = { webview: { html: "" }, onDidDispose() {}, dispose() {} };
    panels.push(panel);
    return panel;
  },
};

class CancellationError extends Error {}

module.exports = {
  CancellationError,
  CallHierarchyIncomingCall: value("from", "fromRanges"),
  CallHierarchyItem: value("kind", "name", "detail", "uri", "range", "selectionRange"),
  CallHierarchyOutgoingCall: value("to", "fromRanges"),
  CodeAction: value("title", "kind"),
  CodeActionKind,
  CompletionItem: value("label", "kind"),
  CompletionList: value("items", "isIncomplete"),
  Diagnostic: value("range", "message", "severity"),
  DiagnosticRelatedInformation: value("location", "message"),
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  DocumentHighlight: value("range", "kind"),
  DocumentSymbol: value("name", "detail", "kind", "range", "selectionRange"),
  FoldingRange: value("start", "end", "kind"),
  FoldingRangeKind: { Comment: 1, Imports: 2, Region: 3 },
  Hover: value("contents", "range"),
  InlayHint: value("position", "label", "kind"),
  Location: value("uri", "range"),
  MarkdownString,
  Position: value("line", "character"),
  Range: value("start", "end"),
  SelectionRange: value("range", "parent"),
  SemanticTokens: value("data", "resultId"),
  SemanticTokensLegend: value("tokenTypes", "tokenModifiers"),
  SnippetString: value("value"),
  SymbolInformation: value("name", "kind", "containerName", "location"),
  TextEdit: value("range", "newText"),
  Uri,
  ViewColumn: { Beside: -2 },
  WorkspaceEdit,
  commands: {
    registerCommand: (name, act) => {
      commands[name] = act;
      return { dispose: () => delete commands[name] };
    },
  },
  languages,
  window,
  workspace,
  test: { changed, closed, commands, found, heard, logged, metadata, opened, panels, providers, shown },
};
