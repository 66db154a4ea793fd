/**
 * Replaces Node's `Worker` for database threads. A thread is kept when its application is closed, and serves the next
 * application, because starting a thread and loading the operations takes longer than most tests. The hook in
 * one-file-hook.ts makes src/db/thread.ts import this class.
 */
import { EventEmitter } from 'node:events';
import {
  MessageChannel,
  type MessagePort,
  Worker as NodeWorker,
  type Transferable,
} from 'node:worker_threads';

type WorkerData = { operationsModule: string; [key: string]: unknown };
/** A request to run a module in a kept thread. The module uses `port` as the port to its parent. */
export type Start = { module: string; workerData: WorkerData; port: MessagePort };

const THREAD = new URL('./kept-thread.ts', import.meta.url);

/** Threads that no application uses, by the module of the operations that they have loaded. */
const idle = new Map<string, NodeWorker[]>();

export class Worker extends EventEmitter {
  readonly #port: MessagePort;

  constructor(module: URL, { workerData }: { workerData: WorkerData }) {
    super();
    const { operationsModule } = workerData;
    const others = idle.get(operationsModule) ?? [];
    idle.set(operationsModule, others);
    const thread = others.pop() ?? new NodeWorker(THREAD, { workerData: { operationsModule } });
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const fail = (error: unknown) => this.emit('error', error);
    const end = () => this.emit('exit');
    port1.on('message', (message) => this.emit('message', message));
    thread.on('error', fail).once('exit', end);
    thread.once('message', () => {
      thread.off('error', fail).off('exit', end).unref();
      others.push(thread);
      end();
    });
    // An idle thread does not keep the process alive.
    thread.ref();
    thread.postMessage({ module: module.href, workerData, port: port2 } satisfies Start, [port2]);
  }

  postMessage(message: unknown, transfer: readonly Transferable[] = []): void {
    this.#port.postMessage(message, [...transfer]);
  }
}
