/**
 * Entry of an engine outside the caller's thread: a worker thread or a forked process, by how it was started. Built to
 * `dist/worker.js`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { EngineSession } from '../engine/session';
import type { EngineRequest } from '../protocol/engine';
import { serveEngine } from './engineServer';
import { engineEnvironment } from './environment';
import type { EngineSettings } from './settings';

if (parentPort !== null) {
  const port = parentPort;
  const { settings, cancelFlags } = workerData as { readonly settings: EngineSettings; readonly cancelFlags: Int32Array };
  serveEngine(
    { post: (reply, transfer) => port.postMessage(reply, transfer), onRequest: (listener) => port.on('message', listener) },
    new EngineSession(engineEnvironment(settings)),
    cancelFlags,
  );
} else {
  // The client went away: nobody is left to answer.
  process.on('disconnect', () => process.exit(0));
  const settings = JSON.parse(process.env['FUSELENS_ENGINE_SETTINGS'] ?? '{}') as EngineSettings;
  serveEngine(
    { post: (reply) => process.send?.(reply, undefined, undefined, () => undefined), onRequest: (listener) => process.on('message', (request) => listener(request as EngineRequest)) },
    new EngineSession(engineEnvironment(settings)),
  );
}
