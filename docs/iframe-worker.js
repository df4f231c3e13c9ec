// Pages opened as files may start no workers. The site's search asks for one: here it runs in a hidden frame instead.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.inside = frame.contentWindow;
    addEventListener("message", (event) => {
      if (event.source !== this.inside) return;
      this.dispatchEvent(new MessageEvent("message", { data: event.data }));
    });
    const { document: page } = this.inside;
    page.open();
    page.write(`<script>postMessage = (data) => parent.postMessage(data, "*")</script><script src="${url}"></script>`);
    page.close();
    this.loaded = new Promise((done) => this.inside.addEventListener("load", done));
  }

  postMessage(data) {
    this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
  }
}
if (location.protocol === "file:") window.Worker = IFrameWorker;
