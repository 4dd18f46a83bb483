/* A page that was opened from the file system may not start a worker, and the search of this site is one.
   There, and only there, a hidden frame runs its script in place of a thread. */
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      document.body.append(frame);
      const inside = frame.contentWindow;
      const load = (url) =>
        new Promise((done, failed) => {
          const script = inside.document.createElement("script");
          script.src = new URL(url, location.href).href;
          script.onload = done;
          script.onerror = failed;
          inside.document.body.append(script);
        });
      // What the worker says goes to those who listen to this object, what they say to the worker.
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => Promise.all(urls.map(load));
      this.inside = inside;
      this.frame = frame;
      this.ready = load(address);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.IFrameWorker = IFrameWorker; // the search looks for this name to find its other scripts
  window.Worker = IFrameWorker;
}
