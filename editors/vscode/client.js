"use strict";
// A client of the language server: one process, framed JSON over its standard streams. It knows nothing of the editor.
//
// Invariants: every request is settled, by its answer, by a failure of the server or by the end of the process; a frame that is too
// large or no JSON ends the connection, since nothing after it can be trusted.

const { spawn } = require("node:child_process");
const { EventEmitter } = require("node:events");

const FRAME_BYTES_MAX = 64 * 1024 * 1024;
const HEADER_BYTES_MAX = 4096;
const STOP_MILLISECONDS_MAX = 2000;

class Client extends EventEmitter {
  /** Events: `notification` (method, params), `log` (text), `closed` (reason). */
  constructor(program, args, options = {}) {
    super();
    this.waiting = new Map();
    this.handlers = new Map();
    this.nextId = 1;
    this.rest = Buffer.alloc(0);
    this.open = true;
    this.process = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"], shell: false });
    this.process.on("error", (error) => this.close(error.message));
    this.process.on("exit", (code, signal) => this.close(signal ? `ended by ${signal}` : `ended with status ${code}`));
    this.process.stdin.on("error", (error) => this.close(error.message));
    this.process.stdout.on("data", (data) => this.receive(data));
    this.process.stderr.on("data", (data) => this.emit("log", data.toString("utf8")));
  }

  /** Ask the server; `token` is a cancellation token of the editor, if there is one. */
  request(method, params, token) {
    if (!this.open) return Promise.reject(new Error("the language server is not running"));
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const watched = token && token.onCancellationRequested(() => this.notify("$/cancelRequest", { id }));
      this.waiting.set(id, { resolve, reject, done: () => watched && watched.dispose() });
      this.send({ jsonrpc: "2.0", id, method, params });
    });
  }

  notify(method, params) {
    if (this.open) this.send({ jsonrpc: "2.0", method, params });
  }

  /** Answer requests of the server. */
  handle(method, handler) {
    this.handlers.set(method, handler);
  }

  send(message) {
    const body = Buffer.from(JSON.stringify(message), "utf8");
    this.process.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "ascii"), body]));
  }

  receive(data) {
    this.rest = Buffer.concat([this.rest, data]);
    while (this.open) {
      const end = this.rest.indexOf("\r\n\r\n");
      if (end < 0) {
        if (this.rest.length > HEADER_BYTES_MAX) this.fail("the language server sent no frame");
        return;
      }
      const found = /^Content-Length: *(\d+)$/im.exec(this.rest.subarray(0, end).toString("ascii"));
      const size = found ? Number(found[1]) : Infinity;
      if (size > FRAME_BYTES_MAX) return this.fail("the language server sent no frame, or one that is too large");
      if (this.rest.length < end + 4 + size) return;
      const body = this.rest.subarray(end + 4, end + 4 + size).toString("utf8");
      this.rest = this.rest.subarray(end + 4 + size);
      let message;
      try {
        message = JSON.parse(body);
      } catch (error) {
        return this.fail(`the language server sent no JSON: ${error.message}`);
      }
      this.take(message);
    }
  }

  take(message) {
    if (message.method === undefined) return this.settle(message);
    if (message.id === undefined) {
      this.emit("notification", message.method, message.params);
      return;
    }
    const handler = this.handlers.get(message.method);
    if (!handler) {
      this.send({ jsonrpc: "2.0", id: message.id, error: { code: -32601, message: `no ${message.method} here` } });
      return;
    }
    Promise.resolve()
      .then(() => handler(message.params))
      .then(
        (result) => this.open && this.send({ jsonrpc: "2.0", id: message.id, result: result === undefined ? null : result }),
        (error) => this.open && this.send({ jsonrpc: "2.0", id: message.id, error: { code: -32603, message: String(error.message) } }),
      );
  }

  settle(message) {
    const asked = this.waiting.get(message.id);
    if (!asked) return;
    this.waiting.delete(message.id);
    asked.done();
    if (message.error) asked.reject(Object.assign(new Error(message.error.message), { code: message.error.code }));
    else asked.resolve(message.result);
  }

  fail(reason) {
    this.close(reason);
    this.process.kill();
  }

  close(reason) {
    if (!this.open) return;
    this.open = false;
    for (const asked of this.waiting.values()) {
      asked.done();
      asked.reject(new Error(reason));
    }
    this.waiting.clear();
    this.emit("closed", reason);
  }

  /** Ask the server to end; one that does not is killed. */
  async stop() {
    if (!this.open) return;
    const last = setTimeout(() => this.process.kill("SIGKILL"), STOP_MILLISECONDS_MAX);
    this.process.once("exit", () => clearTimeout(last));
    try {
      await this.request("shutdown", null);
      this.notify("exit", null);
    } catch {
      this.process.kill();
    }
  }
}

module.exports = { Client };
