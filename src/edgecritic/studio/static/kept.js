// What a window has not saved yet, kept in the browser: edits on their way and the open line.

const LOST_MS = 8000;

/** One entry per window, so that no window overwrites what another one has kept. */
export class Kept {
  constructor(name) {
    this.prefix = `edgecritic:work:${name}:`;
    this.name = this.prefix + Math.random().toString(36).slice(2);
    this.content = { base: 0, events: [], line: null };
    this.works = true;
    setInterval(() => { if (!this.empty) this.write(); }, LOST_MS / 4);
    window.addEventListener("pagehide", () => this.write(0));
    window.addEventListener("pageshow", () => this.write());
  }

  get empty() { return !this.content.events.length && !this.content.line; }

  set(part) {
    Object.assign(this.content, part);
    this.write();
  }

  write(alive = Date.now()) {
    try {
      if (this.empty) localStorage.removeItem(this.name);
      else localStorage.setItem(this.name, JSON.stringify({ alive, ...this.content }));
      this.works = true;
    } catch { this.works = false; }
  }

  /** Take what windows have left behind that are gone; what is taken must be kept by the one who takes it. */
  *left() {
    let names = [];
    try { names = Object.keys(localStorage).filter((name) => name.startsWith(this.prefix) && name !== this.name); } catch { /* there is no store */ }
    for (const name of names) {
      let found = null;
      try { found = JSON.parse(localStorage.getItem(name)); } catch { /* nothing that can be read */ }
      if (!found || Date.now() - found.alive < LOST_MS) continue;
      yield { base: found.base ?? 0, events: found.events ?? [], line: found.line ?? null, forget: () => localStorage.removeItem(name) };
    }
  }
}
