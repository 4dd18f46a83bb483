// Edits are kept in the browser until the server has stored them.

import { send, wait } from "./net.js";

const MOST_AT_ONCE = 100;

export class Sync {
  constructor(path, name, onState) {
    this.path = path;
    this.store = `edgecritic:${name}`;
    this.onState = onState;
    this.waiting = [];
    this.busy = null;
    this.broken = false;
  }

  /** Take over what an earlier visit could not send; `events` are those of the server. */
  resume(events) {
    this.next = events.length;
    let kept = [];
    try { kept = JSON.parse(localStorage.getItem(this.store) ?? "[]"); } catch { kept = []; }
    const known = new Set(events.map((event) => event.key));
    this.waiting = kept.filter((event) => !known.has(event.key));
    this.waiting.forEach((event) => { event.seq = this.next++; });
    this.keep();
    const taken = [...this.waiting];
    this.flush();
    return taken;
  }

  push(edit) {
    const key = crypto.randomUUID ? crypto.randomUUID() : `${Date.now()}-${Math.random().toString(36).slice(2)}`;
    this.waiting.push({ seq: this.next++, key, op: edit.op, data: edit.data, at: Date.now() });
    this.keep();
    this.flush();
  }

  keep() {
    try {
      if (this.waiting.length) localStorage.setItem(this.store, JSON.stringify(this.waiting));
      else localStorage.removeItem(this.store);
    } catch { /* the store is full or off: the queue in memory stays */ }
  }

  flush() {
    if (this.busy || this.broken) return this.busy;
    this.busy = this.work().finally(() => { this.busy = null; });
    return this.busy;
  }

  async work() {
    let pause = 500;
    while (this.waiting.length) {
      this.onState("saving", this.waiting.length);
      const part = this.waiting.slice(0, MOST_AT_ONCE);
      try {
        await send(this.path, { json: { events: part } });
        this.waiting = this.waiting.slice(part.length);
        this.keep();
        pause = 500;
      } catch (failure) {
        if (failure.status >= 400 && failure.status < 500 && failure.status !== 429) {
          this.broken = true;
          this.onState("refused", this.waiting.length, failure.message);
          return;
        }
        this.onState("offline", this.waiting.length);
        await wait(pause);
        pause = Math.min(2 * pause, 8000);
      }
    }
    this.onState("saved", 0);
  }

  /** Wait until everything is stored. */
  async settled() {
    while (this.waiting.length && !this.broken) await (this.flush() ?? wait(20));
    return !this.broken;
  }

  /** Forget edits that can never be stored, because another window has gone on. */
  forget() { this.waiting = []; this.keep(); }
}
