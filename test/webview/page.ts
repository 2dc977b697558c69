/** Runs in the harness's page before the view's script: plays the host. */
import type { FromWebview } from '../../src/protocol/webview';
import { countBlank, move } from './motion';
import { decode } from './wire';

interface Harness {
  latency: number;
  readonly messages: FromWebview[];
  readonly windowTimes: number[];
  state: unknown;
  readonly move: typeof move;
  readonly countBlank: typeof countBlank;
}

declare global {
  interface Window {
    harness: Harness;
    harnessInit: unknown;
    acquireVsCodeApi: () => unknown;
  }
}

const harness: Harness = { latency: Number(new URLSearchParams(location.search).get('latency') ?? 0), messages: [], windowTimes: [], state: undefined, move, countBlank };
window.harness = harness;
const later = (action: () => void): void => {
  if (harness.latency > 0) {
    setTimeout(action, harness.latency / 2);
  } else {
    action();
  }
};

async function answer(message: Extract<FromWebview, { kind: 'call' }>): Promise<void> {
  const before = performance.now();
  const response = await fetch('/call', { method: 'POST', body: JSON.stringify({ method: message.method, params: message.params }) });
  const reply = decode(await response.arrayBuffer());
  if (message.method === 'timelineWindow') {
    harness.windowTimes.push(performance.now() - before);
  }
  later(() => window.postMessage(response.ok ? { kind: 'reply', id: message.id, result: reply } : { kind: 'error', id: message.id, code: 'failed', message: String(reply) }));
}

window.acquireVsCodeApi = () => ({
  getState: () => harness.state,
  setState: (state: unknown) => {
    harness.state = state;
  },
  postMessage: (message: FromWebview) => {
    harness.messages.push(message);
    if (message.kind === 'ready') {
      later(() => window.postMessage({ kind: 'init', init: window.harnessInit }));
    } else if (message.kind === 'call') {
      later(() => void answer(message));
    }
  },
});
