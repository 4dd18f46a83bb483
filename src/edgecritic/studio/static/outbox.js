// Answers are kept in the browser until the server has stored them; what is refused is never counted as stored.

import { send, wait } from "./net.js";

export class Outbox {
  /** `onState(kind, count)` is told "sending", "offline" or "stored"; `onEnd(failure)` that no more answers are taken. */
  constructor(path, name, { onState, onEnd }) {
    Object.assign(this, { path, name, onState, onEnd });
    this.waiting = [];
    this.stored = 0;
    this.refused = [];
    this.ended = false;
    this.busy = null;
    try { this.waiting = JSON.parse(localStorage.getItem(name) ?? "[]"); } catch { /* nothing is kept */ }
  }

  put(answer) {
    this.waiting.push(answer);
    this.keep();
    this.flush();
  }

  keep() {
    try {
      if (this.waiting.length) localStorage.setItem(this.name, JSON.stringify(this.waiting));
      else localStorage.removeItem(this.name);
    } catch { /* the store is off: the queue in memory stays */ }
  }

  flush() {
    if (this.ended) return Promise.resolve();
    this.busy ??= this.work().finally(() => { this.busy = null; });
    return this.busy;
  }

  async work() {
    let pause = 400;
    while (this.waiting.length && !this.ended) {
      try {
        this.onState("sending", this.waiting.length);
        await send(this.path, { json: this.waiting[0] });
        this.waiting.shift();
        this.stored++;
        this.keep();
        pause = 400;
      } catch (failure) {
        if (failure.status === 403 || failure.status === 404) { this.end(failure); return; }
        if (failure.status === 400) { this.refused.push(this.waiting.shift()); this.keep(); continue; }
        this.onState("offline", this.waiting.length);
        await wait(pause);
        pause = Math.min(2 * pause, 4000);
      }
    }
    if (!this.ended) this.onState("stored", 0);
  }

  /** No more answers are taken; what waits stays in the browser, in case that the owner sends a new link. */
  end(failure) {
    if (this.ended) return;
    this.ended = true;
    this.onEnd(failure);
  }

  /** Wait until everything is stored; tell whether it is. */
  async settled() {
    while (this.waiting.length && !this.ended) await this.flush();
    return !this.ended && !this.refused.length;
  }
}
