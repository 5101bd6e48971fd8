"use strict";
// Values of the protocol as values of the editor, and back.

const vscode = require("vscode");

const position = (at) => new vscode.Position(at.line, at.character);
const range = (of) => new vscode.Range(position(of.start), position(of.end));
const location = (of) => new vscode.Location(vscode.Uri.parse(of.uri), range(of.range));
const plainRange = (of) => ({ start: { line: of.start.line, character: of.start.character }, end: { line: of.end.line, character: of.end.character } });
const listed = (value) => (value ? (Array.isArray(value) ? value : [value]) : []);

/** A text of the server; nothing in it is taken as HTML or as a link that runs a command. */
function markup(content) {
  const parts = listed(content).map((part) => {
    const text = new vscode.MarkdownString();
    if (typeof part === "string") return text.appendMarkdown(part);
    if (part.language) return text.appendCodeblock(part.value, part.language);
    return part.kind === "markdown" ? text.appendMarkdown(part.value) : text.appendText(part.value);
  });
  return parts;
}

function diagnostic(of) {
  const severity = [1, 2, 3, 4].includes(of.severity) ? of.severity - 1 : vscode.DiagnosticSeverity.Error;
  const made = new vscode.Diagnostic(range(of.range), of.message, severity);
  made.source = of.source;
  made.code = of.codeDescription ? { value: of.code, target: vscode.Uri.parse(of.codeDescription.href) } : of.code;
  made.tags = of.tags;
  made.relatedInformation = listed(of.relatedInformation).map(
    (each) => new vscode.DiagnosticRelatedInformation(location(each.location), each.message),
  );
  made.original = of;
  return made;
}

const textEdit = (of) => new vscode.TextEdit(range(of.range), of.newText);

function workspaceEdit(of) {
  if (!of) return undefined;
  const made = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(of.changes || {})) made.set(vscode.Uri.parse(uri), edits.map(textEdit));
  for (const change of of.documentChanges || []) {
    if (!change.textDocument) throw new Error("the language server asks for a change of files, which is not done here");
    made.set(vscode.Uri.parse(change.textDocument.uri), change.edits.map(textEdit));
  }
  return made;
}

function completion(of, fallback) {
  const made = new vscode.CompletionItem(of.label, of.kind ? of.kind - 1 : undefined);
  made.detail = of.detail;
  made.documentation = of.documentation ? markup(of.documentation)[0] : undefined;
  made.sortText = of.sortText;
  made.filterText = of.filterText;
  made.preselect = of.preselect;
  const edit = of.textEdit;
  const text = edit ? edit.newText : of.insertText || of.label;
  made.insertText = of.insertTextFormat === 2 ? new vscode.SnippetString(text) : text;
  const place = edit && (edit.range || edit.replace);
  made.range = place ? range(place) : fallback && (fallback.start ? range(fallback) : range(fallback.replace));
  made.additionalTextEdits = listed(of.additionalTextEdits).map(textEdit);
  return made;
}

function documentSymbol(of) {
  const made = new vscode.DocumentSymbol(of.name || " ", of.detail || "", of.kind - 1, range(of.range), range(of.selectionRange));
  made.children = listed(of.children).map(documentSymbol);
  return made;
}

function selection(of) {
  return new vscode.SelectionRange(range(of.range), of.parent ? selection(of.parent) : undefined);
}

function codeAction(of) {
  const kind = of.kind ? vscode.CodeActionKind.Empty.append(of.kind) : undefined;
  const made = new vscode.CodeAction(of.title, kind);
  made.edit = workspaceEdit(of.edit);
  made.isPreferred = of.isPreferred;
  made.disabled = of.disabled;
  made.diagnostics = of.diagnostics ? of.diagnostics.map(diagnostic) : undefined;
  return made;
}

function inlayHint(of) {
  const label = typeof of.label === "string" ? of.label : of.label.map((part) => part.value).join("");
  const made = new vscode.InlayHint(position(of.position), label, of.kind);
  made.paddingLeft = of.paddingLeft;
  made.paddingRight = of.paddingRight;
  made.tooltip = of.tooltip ? markup(of.tooltip)[0] : undefined;
  return made;
}

function callItem(of) {
  const uri = vscode.Uri.parse(of.uri);
  const made = new vscode.CallHierarchyItem(of.kind - 1, of.name, of.detail || "", uri, range(of.range), range(of.selectionRange));
  made.original = of;
  return made;
}

module.exports = {
  callItem, codeAction, completion, diagnostic, documentSymbol, inlayHint, listed, location, markup, plainRange, position, range, selection, textEdit, workspaceEdit,
};
