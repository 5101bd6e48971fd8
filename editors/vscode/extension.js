"use strict";
// The extension: starts the language server, hands it the open documents, shows what it finds and draws the flow beside its source.

const vscode = require("vscode");
const { Client } = require("./client");
const { SELECTOR, register } = require("./features");
const { Preview } = require("./preview");
const v = require("./values");

const FORMATS = ["markdown", "plaintext"];
const CAPABILITIES = {
  general: { positionEncodings: ["utf-16"] },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { relatedInformation: true, versionSupport: true, codeDescriptionSupport: true, tagSupport: { valueSet: [1, 2] } },
    completion: { completionItem: { snippetSupport: true, documentationFormat: FORMATS }, completionList: { itemDefaults: ["editRange"] } },
    hover: { contentFormat: FORMATS },
    definition: { linkSupport: true },
    references: {},
    documentHighlight: {},
    rename: { prepareSupport: true },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    foldingRange: { lineFoldingOnly: true },
    selectionRange: {},
    formatting: {},
    codeAction: {
      codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "refactor", "refactor.rewrite", "source", "source.fixAll"] } },
      isPreferredSupport: true,
      disabledSupport: true,
    },
    semanticTokens: {
      requests: { full: true },
      tokenTypes: ["namespace", "type", "parameter", "variable", "property", "enumMember", "function", "keyword", "comment", "string", "number", "regexp", "operator"],
      tokenModifiers: ["declaration", "definition", "readonly", "deprecated", "defaultLibrary"],
      formats: ["relative"],
    },
    inlayHint: {},
    callHierarchy: {},
  },
  workspace: { workspaceFolders: true, symbol: {}, workspaceEdit: { documentChanges: true }, applyEdit: true },
};

class Session {
  constructor(log) {
    this.log = log;
    this.found = vscode.languages.createDiagnosticCollection("stateward");
    this.kept = [this.found];
    this.client = undefined;
    this.open = new Set();
    this.running = false;
  }

  async start() {
    const program = vscode.workspace.getConfiguration("stateward").get("path") || "stateward";
    const folders = (vscode.workspace.workspaceFolders || []).filter((folder) => folder.uri.scheme === "file");
    const client = new Client(program, ["lsp"], { cwd: folders.length ? folders[0].uri.fsPath : undefined });
    this.client = client;
    client.on("log", (text) => this.log.append(text));
    client.on("notification", (method, params) => this.told(method, params));
    client.on("closed", (reason) => {
      this.found.clear();
      this.log.appendLine(`${program} lsp: ${reason}`);
      if (this.running) vscode.window.showErrorMessage(`stateward: the language server is gone: ${reason}. A command starts it again.`);
    });
    client.handle("workspace/applyEdit", async ({ edit }) => ({ applied: await vscode.workspace.applyEdit(v.workspaceEdit(edit)) }));
    client.handle("workspace/configuration", ({ items }) => items.map(() => null));
    client.handle("workspace/workspaceFolders", () => folders.map((folder) => ({ uri: folder.uri.toString(), name: folder.name })));
    client.handle("client/registerCapability", () => null);
    client.handle("window/workDoneProgress/create", () => null);
    const answer = await client.request("initialize", {
      processId: process.pid,
      clientInfo: { name: "stateward for VS Code" },
      rootUri: folders.length ? folders[0].uri.toString() : null,
      workspaceFolders: folders.map((folder) => ({ uri: folder.uri.toString(), name: folder.name })),
      capabilities: CAPABILITIES,
    });
    this.running = true;
    client.notify("initialized", {});
    this.kept.push(...register(client, answer.capabilities), ...this.documents(answer.capabilities));
  }

  told(method, params) {
    if (method === "textDocument/publishDiagnostics") {
      const uri = vscode.Uri.parse(params.uri);
      const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
      if (params.version != null && document && document.version !== params.version) return; // of a text that is no more
      this.found.set(uri, params.diagnostics.map(v.diagnostic));
    } else if (method === "window/showMessage" || method === "window/logMessage") {
      this.log.appendLine(params.message);
      if (method === "window/showMessage" && params.type === 1) vscode.window.showErrorMessage(params.message);
    }
  }

  /** Hand over the open documents, and each change of one. */
  documents(capabilities) {
    const sync = capabilities.textDocumentSync;
    const whole = (typeof sync === "number" ? sync : sync && sync.change) !== 2;
    const isOurs = (document) => vscode.languages.match(SELECTOR, document) > 0;
    const name = (document) => ({ uri: document.uri.toString(), version: document.version });
    const opened = (document) => {
      if (!isOurs(document) || this.open.has(document.uri.toString())) return;
      this.open.add(document.uri.toString());
      this.client.notify("textDocument/didOpen", { textDocument: { ...name(document), languageId: "dcdl", text: document.getText() } });
    };
    const closed = (document) => {
      if (!this.open.delete(document.uri.toString())) return;
      this.found.delete(document.uri);
      this.client.notify("textDocument/didClose", { textDocument: { uri: document.uri.toString() } });
    };
    const changed = ({ document, contentChanges }) => {
      if (!this.open.has(document.uri.toString()) || !contentChanges.length) return;
      const parts = contentChanges.map((each) => ({ range: v.plainRange(each.range), text: each.text }));
      this.client.notify("textDocument/didChange", {
        textDocument: name(document),
        contentChanges: whole ? [{ text: document.getText() }] : parts,
      });
    };
    const saved = (document) => {
      if (this.open.has(document.uri.toString())) {
        this.client.notify("textDocument/didSave", { textDocument: { uri: document.uri.toString() } });
      }
    };
    vscode.workspace.textDocuments.forEach(opened);
    return [
      vscode.workspace.onDidOpenTextDocument(opened),
      vscode.workspace.onDidCloseTextDocument(closed),
      vscode.workspace.onDidChangeTextDocument(changed),
      vscode.workspace.onDidSaveTextDocument(saved),
    ];
  }

  async stop() {
    this.running = false;
    this.kept.forEach((each) => each.dispose());
    if (this.client) await this.client.stop();
  }
}

let session;

async function start(log) {
  if (session) await session.stop();
  session = new Session(log);
  try {
    await session.start();
  } catch (error) {
    log.appendLine(String(error.message));
    const text = `stateward: the language server was not started: ${error.message}. The setting stateward.path names the program.`;
    vscode.window.showErrorMessage(text);
  }
}

async function activate(context) {
  const log = vscode.window.createOutputChannel("stateward");
  const preview = new Preview((method, params) => session.client.request(method, params));
  context.subscriptions.push(
    log,
    preview,
    vscode.commands.registerCommand("stateward.restart", () => start(log)),
    vscode.commands.registerCommand("stateward.preview", () => preview.show(vscode.window.activeTextEditor)),
  );
  await start(log);
}

async function deactivate() {
  if (session) await session.stop();
}

module.exports = { activate, deactivate };
