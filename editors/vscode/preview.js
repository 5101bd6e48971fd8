"use strict";
// The picture of a flow beside its source.
//
// The view runs no script and loads nothing: its policy allows styles written into the page and nothing else, and what does not begin as
// an SVG is not shown.

const vscode = require("vscode");
const { placed } = require("./features");

const POLICY = "default-src 'none'; style-src 'unsafe-inline'";
const PAUSE_MILLISECONDS = 250;

const escaped = (text) => text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);

function page(body) {
  return `<!DOCTYPE html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"></head><body>${body}</body></html>`;
}

class Preview {
  constructor(ask) {
    this.ask = ask;
    this.panel = undefined;
    this.editor = undefined;
    this.turn = 0;
    this.later = undefined;
    this.watched = [
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.editor && document === this.editor.document && this.soon()),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        if (!this.panel || !editor || editor.document.languageId !== "dcdl") return;
        this.editor = editor;
        this.soon();
      }),
    ];
  }

  show(editor) {
    if (!editor || editor.document.languageId !== "dcdl") return;
    this.editor = editor;
    if (!this.panel) {
      const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      this.panel = vscode.window.createWebviewPanel("stateward.preview", "Flow", place, { enableScripts: false, localResourceRoots: [] });
      this.panel.onDidDispose(() => {
        this.panel = undefined;
      });
    }
    this.draw();
  }

  soon() {
    clearTimeout(this.later);
    this.later = setTimeout(() => this.draw(), PAUSE_MILLISECONDS);
  }

  async draw() {
    if (!this.panel) return;
    const turn = ++this.turn;
    let body;
    try {
      const answer = await this.ask("stateward/preview", placed(this.editor.document, this.editor.selection.active));
      const svg = typeof answer === "string" ? answer : answer && answer.svg;
      if (svg && !svg.startsWith("<svg")) throw new Error("the language server sent no picture");
      body = svg || `<p>${escaped((answer && answer.message) || "This source has no flow that can be drawn yet.")}</p>`;
    } catch (error) {
      body = `<p>${escaped(String(error.message))}</p>`;
    }
    if (this.panel && turn === this.turn) this.panel.webview.html = page(body);
  }

  dispose() {
    clearTimeout(this.later);
    this.watched.forEach((each) => each.dispose());
    if (this.panel) this.panel.dispose();
  }
}

module.exports = { Preview };
