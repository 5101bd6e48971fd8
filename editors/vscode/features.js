"use strict";
// What the server can do, offered to the editor. Only what the server says it can do is registered.

const vscode = require("vscode");
const v = require("./values");

const SELECTOR = [{ language: "dcdl", scheme: "file" }, { language: "dcdl", scheme: "untitled" }];

/** Codes of requests that were cancelled, or whose text has changed in the meantime. */
const OVERTAKEN = [-32800, -32801];

const named = (document) => ({ textDocument: { uri: document.uri.toString() } });
const placed = (document, at) => ({ ...named(document), position: { line: at.line, character: at.character } });

/** Register the features of a server; gives what takes them back. */
function register(client, capabilities) {
  const ask = async (method, params, token) => {
    try {
      return await client.request(method, params, token);
    } catch (error) {
      // the editor itself has gone on: it asks again where it still wants to know, and nobody needs to be told
      throw OVERTAKEN.includes(error.code) ? new vscode.CancellationError() : error;
    }
  };
  const languages = vscode.languages;
  const table = {
    hoverProvider: () => languages.registerHoverProvider(SELECTOR, {
      async provideHover(document, at, token) {
        const found = await ask("textDocument/hover", placed(document, at), token);
        return found ? new vscode.Hover(v.markup(found.contents), found.range ? v.range(found.range) : undefined) : undefined;
      },
    }),
    definitionProvider: () => languages.registerDefinitionProvider(SELECTOR, {
      async provideDefinition(document, at, token) {
        const found = v.listed(await ask("textDocument/definition", placed(document, at), token));
        return found.map((each) => v.location(each.targetUri ? { uri: each.targetUri, range: each.targetSelectionRange } : each));
      },
    }),
    referencesProvider: () => languages.registerReferenceProvider(SELECTOR, {
      async provideReferences(document, at, context, token) {
        return v.listed(await ask("textDocument/references", { ...placed(document, at), context }, token)).map(v.location);
      },
    }),
    documentHighlightProvider: () => languages.registerDocumentHighlightProvider(SELECTOR, {
      async provideDocumentHighlights(document, at, token) {
        const found = v.listed(await ask("textDocument/documentHighlight", placed(document, at), token));
        return found.map((each) => new vscode.DocumentHighlight(v.range(each.range), each.kind ? each.kind - 1 : undefined));
      },
    }),
    renameProvider: (options) => languages.registerRenameProvider(SELECTOR, {
      async provideRenameEdits(document, at, newName, token) {
        return v.workspaceEdit(await ask("textDocument/rename", { ...placed(document, at), newName }, token));
      },
      ...(options.prepareProvider && {
        async prepareRename(document, at, token) {
          const found = await ask("textDocument/prepareRename", placed(document, at), token);
          if (!found) throw new Error("nothing here has a name that can be changed");
          if (found.placeholder !== undefined) return { range: v.range(found.range), placeholder: found.placeholder };
          return found.start ? v.range(found) : document.getWordRangeAtPosition(at);
        },
      }),
    }),
    completionProvider: (options) => languages.registerCompletionItemProvider(SELECTOR, {
      async provideCompletionItems(document, at, token, context) {
        const asked = { triggerKind: context.triggerKind + 1, triggerCharacter: context.triggerCharacter };
        const found = await ask("textDocument/completion", { ...placed(document, at), context: asked }, token);
        const items = found ? found.items || found : [];
        const fallback = found && found.itemDefaults && found.itemDefaults.editRange;
        return new vscode.CompletionList(items.map((each) => v.completion(each, fallback)), Boolean(found && found.isIncomplete));
      },
    }, ...(options.triggerCharacters || [])),
    documentSymbolProvider: () => languages.registerDocumentSymbolProvider(SELECTOR, {
      async provideDocumentSymbols(document, token) {
        return v.listed(await ask("textDocument/documentSymbol", named(document), token)).map(v.documentSymbol);
      },
    }),
    workspaceSymbolProvider: () => languages.registerWorkspaceSymbolProvider({
      async provideWorkspaceSymbols(query, token) {
        const found = v.listed(await ask("workspace/symbol", { query }, token));
        return found.map((each) => new vscode.SymbolInformation(each.name, each.kind - 1, each.containerName || "", v.location(each.location)));
      },
    }),
    foldingRangeProvider: () => languages.registerFoldingRangeProvider(SELECTOR, {
      async provideFoldingRanges(document, _context, token) {
        const kinds = { comment: vscode.FoldingRangeKind.Comment, imports: vscode.FoldingRangeKind.Imports, region: vscode.FoldingRangeKind.Region };
        const found = v.listed(await ask("textDocument/foldingRange", named(document), token));
        return found.map((each) => new vscode.FoldingRange(each.startLine, each.endLine, kinds[each.kind]));
      },
    }),
    selectionRangeProvider: () => languages.registerSelectionRangeProvider(SELECTOR, {
      async provideSelectionRanges(document, positions, token) {
        const params = { ...named(document), positions: positions.map((at) => ({ line: at.line, character: at.character })) };
        return v.listed(await ask("textDocument/selectionRange", params, token)).map(v.selection);
      },
    }),
    documentFormattingProvider: () => languages.registerDocumentFormattingEditProvider(SELECTOR, {
      async provideDocumentFormattingEdits(document, options, token) {
        const params = { ...named(document), options: { tabSize: options.tabSize, insertSpaces: options.insertSpaces } };
        return v.listed(await ask("textDocument/formatting", params, token)).map(v.textEdit);
      },
    }),
    codeActionProvider: (options) => languages.registerCodeActionsProvider(SELECTOR, {
      async provideCodeActions(document, range, context, token) {
        const diagnostics = context.diagnostics.map((each) => each.original).filter(Boolean);
        const only = context.only ? [context.only.value] : undefined;
        const params = { ...named(document), range: v.plainRange(range), context: { diagnostics, only, triggerKind: context.triggerKind } };
        return v.listed(await ask("textDocument/codeAction", params, token)).filter((each) => !each.command).map(v.codeAction);
      },
    }, { providedCodeActionKinds: v.listed(options.codeActionKinds).map((each) => vscode.CodeActionKind.Empty.append(each)) }),
    semanticTokensProvider: (options) => {
      const legend = new vscode.SemanticTokensLegend(options.legend.tokenTypes, options.legend.tokenModifiers);
      return languages.registerDocumentSemanticTokensProvider(SELECTOR, {
        async provideDocumentSemanticTokens(document, token) {
          const found = await ask("textDocument/semanticTokens/full", named(document), token);
          return found ? new vscode.SemanticTokens(new Uint32Array(found.data), found.resultId) : undefined;
        },
      }, legend);
    },
    inlayHintProvider: () => languages.registerInlayHintsProvider(SELECTOR, {
      async provideInlayHints(document, range, token) {
        const params = { ...named(document), range: v.plainRange(range) };
        return v.listed(await ask("textDocument/inlayHint", params, token)).map(v.inlayHint);
      },
    }),
    callHierarchyProvider: () => languages.registerCallHierarchyProvider(SELECTOR, {
      async prepareCallHierarchy(document, at, token) {
        return v.listed(await ask("textDocument/prepareCallHierarchy", placed(document, at), token)).map(v.callItem);
      },
      async provideCallHierarchyIncomingCalls(item, token) {
        const found = v.listed(await ask("callHierarchy/incomingCalls", { item: item.original }, token));
        return found.map((each) => new vscode.CallHierarchyIncomingCall(v.callItem(each.from), each.fromRanges.map(v.range)));
      },
      async provideCallHierarchyOutgoingCalls(item, token) {
        const found = v.listed(await ask("callHierarchy/outgoingCalls", { item: item.original }, token));
        return found.map((each) => new vscode.CallHierarchyOutgoingCall(v.callItem(each.to), each.fromRanges.map(v.range)));
      },
    }),
  };
  return Object.entries(table)
    .filter(([name]) => capabilities[name])
    .map(([name, offer]) => offer(capabilities[name]));
}

module.exports = { SELECTOR, placed, register };
