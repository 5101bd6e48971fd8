"use strict";
// A session of the extension with the installed server. Prints, as JSON, what an author would see.

const Module = require("node:module");
const path = require("node:path");

const resolve = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  return name === "vscode" ? path.join(__dirname, "vscode.js") : resolve.call(this, name, ...rest);
};
const childProcess = require("node:child_process");
const started = [];
const { spawn } = childProcess;
childProcess.spawn = (...given) => {
  started.push(spawn(...given));
  return started[started.length - 1];
};
const vscode = require("vscode");
const extension = require(path.join(process.argv[2], "extension.js"));
const features = require(path.join(process.argv[2], "features.js"));

const { commands, changed, closed, found, heard, metadata, opened, panels, providers, shown, logged } = vscode.test;
const token = { onCancellationRequested: () => ({ dispose() {} }) };
const uri = vscode.Uri.parse("file:///flows/paper.dcdl");
const document = { uri, languageId: "dcdl", version: 1, text: process.argv[3], getText: () => document.text };

const offset = (at) => document.text.split("\n").slice(0, at.line).reduce((sum, line) => sum + line.length + 1, 0) + at.character;
const place = (text, within) => {
  const before = document.text.slice(0, document.text.indexOf(text) + within).split("\n");
  return new vscode.Position(before.length - 1, before[before.length - 1].length);
};
const whole = () => new vscode.Range(new vscode.Position(0, 0), place("\u0000", document.text.length + 1));

/** Wait for what is wrong with the newest version. */
const faults = () =>
  new Promise((settle) => {
    const listening = heard.on(() => {
      listening.dispose();
      settle(found.get(uri.toString()).map((each) => each.code || each.message));
    });
  });

/** Make edits, the last one first, as the editor does, and give what is wrong then. */
async function apply(edits) {
  const parts = [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start));
  const contentChanges = parts.map((each) => ({ range: each.range, text: each.newText }));
  for (const each of parts) {
    document.text = document.text.slice(0, offset(each.range.start)) + each.newText + document.text.slice(offset(each.range.end));
  }
  document.version += 1;
  const told = faults();
  changed.fire({ document, contentChanges });
  return told;
}

async function play() {
  const seen = {};
  const first = faults();
  vscode.workspace.textDocuments.push(document);
  await extension.activate({ subscriptions: [] });
  seen.providers = Object.keys(providers).sort();
  seen.first = await first;
  const [fault] = found.get(uri.toString());
  const actions = await providers.CodeActions.provideCodeActions(document, fault.range, { diagnostics: [fault], triggerKind: 1 }, token);
  seen.actions = actions.map((each) => each.title);
  seen.mended = await apply(actions[0].edit.edits[0][1]);
  const at = place('target = ""', 10);
  const offered = await providers.CompletionItem.provideCompletionItems(document, at, token, { triggerKind: 0 });
  seen.offered = offered.items.map((each) => each.label).sort();
  const chosen = offered.items.find((each) => each.label === "done");
  seen.completed = await apply([{ range: chosen.range, newText: chosen.insertText.value || chosen.insertText }]);
  const name = place('initial = "write', 13);
  seen.prepared = (await providers.Rename.prepareRename(document, name, token)).placeholder;
  seen.renamed = await apply((await providers.Rename.provideRenameEdits(document, name, "draft", token)).edits[0][1]);
  seen.refused = await providers.Rename.provideRenameEdits(document, name, "no id", token).catch((error) => error.message);
  seen.hover = (await providers.Hover.provideHover(document, place('initial = "', 13), token)).contents[0].value.length > 0;
  const used = place('initial = "', 13);
  seen.definition = (await providers.Definition.provideDefinition(document, used, token)).length;
  seen.references = (await providers.Reference.provideReferences(document, used, { includeDeclaration: true }, token)).length;
  seen.highlights = (await providers.DocumentHighlight.provideDocumentHighlights(document, used, token)).length;
  seen.symbols = (await providers.DocumentSymbol.provideDocumentSymbols(document, token)).map((each) => each.name);
  seen.found = (await providers.WorkspaceSymbol.provideWorkspaceSymbols("draft", token)).map((each) => each.name);
  seen.folds = (await providers.FoldingRange.provideFoldingRanges(document, {}, token)).length > 0;
  seen.selected = (await providers.SelectionRange.provideSelectionRanges(document, [used], token)).length;
  seen.tokens = (await providers.DocumentSemanticTokens.provideDocumentSemanticTokens(document, token)).data.length % 5;
  seen.hints = Array.isArray(await providers.InlayHints.provideInlayHints(document, whole(), token));
  const [item] = await providers.CallHierarchy.prepareCallHierarchy(document, used, token);
  seen.calls = (await providers.CallHierarchy.provideCallHierarchyOutgoingCalls(item, token)).map((each) => each.to.name);
  seen.callers = (await providers.CallHierarchy.provideCallHierarchyIncomingCalls(item, token)).map((each) => each.from.name);
  const options = { tabSize: 4, insertSpaces: true };
  seen.formatted = await apply(await providers.DocumentFormattingEdit.provideDocumentFormattingEdits(document, options, token));
  seen.text = document.text;
  vscode.window.activeTextEditor = { document, selection: { active: used } };
  const drawn = commands["stateward.preview"]();
  while (!panels[0].webview.html) await new Promise((settle) => setImmediate(settle));
  await drawn;
  seen.picture = /<body><svg /.test(panels[0].webview.html);
  seen.kinds = metadata.CodeActions.providedCodeActionKinds.map((each) => each.value);
  closed.fire(document);
  await extension.deactivate();
  seen.shown = [...shown];
  seen.logged = [...logged];
  seen.failures = [];
  for (const code of [-32800, -32801, -32803]) {
    const failing = { request: () => Promise.reject(Object.assign(new Error("no"), { code })) };
    features.register(failing, { hoverProvider: true });
    await providers.Hover.provideHover(document, used, token).catch((error) => seen.failures.push(error.constructor.name));
  }
  await extension.activate({ subscriptions: [] });
  const gone = new Promise((settle) => started[1].once("exit", settle));
  started[1].kill("SIGKILL");
  await gone;
  await extension.deactivate();
  seen.gone = shown.slice(seen.shown.length);
  return seen;
}

play().then(
  (seen) => process.stdout.write(JSON.stringify(seen)),
  (error) => {
    process.stderr.write(`${error.stack}\n${JSON.stringify(logged)}\n`);
    process.exitCode = 1;
  },
);
