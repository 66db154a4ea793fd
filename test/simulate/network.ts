/**
 * The network of a simulation: connections whose bytes take time. The daemon has a socket at one end, and a host has the other
 * end as a value. Nothing of it is real.
 */
import { Duplex } from 'node:stream';

import type { Timer } from '../../src/system/clock.ts';
import { TimeoutError } from '../../src/system/clock.ts';
import { SourceError } from '../../src/system/dial/source-failure.ts';
import type { DialTarget } from '../../src/system/dial.ts';
import type { ConnectionFacts, Observe } from './observation.ts';
import type { HostPlan } from './plan.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The end of a connection at a host. */
export type HostEnd = {
  onBytes(bytes: Buffer): void;
  /** The daemon has closed its end. */
  onClose(): void;
};

/** Decides about a new connection: a host end for it, or how it fails. */
export type Answer = (link: Link) => HostEnd | 'refused' | 'silent';

/** The socket of the daemon. It has the methods of a `net.Socket` that SMTP and TLS use. */
class FakeSocket extends Duplex {
  readonly #link: Link;
  /** Finishes a write that waits because the host reads nothing. */
  #resume: (() => void) | undefined;

  constructor(link: Link) {
    super({ allowHalfOpen: false });
    this.#link = link;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#link.fromDaemon(chunk);
    if (this.#link.isStalled) this.#resume = done;
    else done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), '', done);
  }

  override _final(done: () => void): void {
    this.#link.closedByDaemon('closed');
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#resume?.();
    this.#link.closedByDaemon(error?.message ?? 'closed');
    done(error);
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

const QUIT = Buffer.from('QUIT\r\n');

/** One connection. Bytes arrive in order, each after the latency of the host. */
export class Link {
  readonly facts: ConnectionFacts;
  readonly socket: FakeSocket;
  /** True while the host reads nothing. */
  isStalled = false;
  readonly #time: VirtualTime;
  readonly #observe: Observe;
  #host: HostEnd | undefined;
  #hasLeft = false;
  #isClosed = false;
  #isClosedByHost = false;
  /** Is called when the host no longer counts the connection. */
  onClosed: () => void = () => {};
  /** True once the daemon was killed: nothing arrives there any more. */
  #isDead = false;

  constructor(time: VirtualTime, facts: ConnectionFacts, observe: Observe) {
    this.#time = time;
    this.facts = facts;
    this.#observe = observe;
    this.socket = new FakeSocket(this);
  }

  accept(host: HostEnd): void {
    this.#host = host;
  }

  get isOpenToDaemon(): boolean {
    return !this.#isDead && !this.socket.destroyed;
  }

  fromDaemon(bytes: Buffer): void {
    if (this.#isDead) return;
    if (bytes.equals(QUIT)) this.#leave('QUIT');
    this.#later(() => this.#host?.onBytes(bytes));
  }

  closedByDaemon(reason: string): void {
    this.#leave(reason);
    if (this.#isDead || this.#isClosed) return;
    this.#later(() => {
      this.close();
      this.#host?.onClose();
    });
  }

  /** Notes that the daemon has given the connection up. */
  #leave(reason: string): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#observe({ kind: 'left', connection: this.facts, reason });
  }

  /** Ends the connection as the host sees it: it has read QUIT or the end of the stream, or has closed its end. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#observe({ kind: 'closed', connection: this.facts });
    this.onClosed();
  }

  /** Sends bytes to the daemon. `onArrival` is called when they have arrived there. */
  send(bytes: Buffer, onArrival?: () => void): void {
    if (this.#isClosedByHost) return;
    this.#later(() => {
      if (!this.isOpenToDaemon) return;
      this.socket.push(bytes);
      onArrival?.();
    });
  }

  closeByHost(): void {
    if (this.#isClosedByHost) return;
    this.#isClosedByHost = true;
    this.close();
    this.#later(() => {
      if (this.isOpenToDaemon) this.socket.push(null);
    });
  }

  /** The daemon was killed: the kernel closes its end. */
  die(): void {
    if (this.#isDead) return;
    this.closedByDaemon('killed');
    this.#isDead = true;
    this.socket.removeAllListeners();
    this.socket.on('error', () => {});
    this.socket.destroy();
  }

  #later(run: () => void): Timer {
    return this.#time.after(this.facts.host.latencyMs, run);
  }
}

/** Connections of one run of the daemon. */
export class Network {
  readonly #time: VirtualTime;
  readonly #observe: Observe;
  readonly #hosts: ReadonlyMap<string, { plan: HostPlan; answer: Answer }>;
  readonly #nextId: () => number;
  readonly #redialMs: number | undefined;
  readonly #hasAddress: (address: string) => boolean;
  readonly #links = new Set<Link>();
  #isDead = false;

  constructor(
    time: VirtualTime,
    options: {
      observe: Observe;
      hosts: ReadonlyMap<string, { plan: HostPlan; answer: Answer }>;
      nextId: () => number;
      redialMs: number | undefined;
      /** Returns true when the machine has an address at present. */
      hasAddress(address: string): boolean;
    },
  ) {
    this.#time = time;
    this.#observe = options.observe;
    this.#hosts = options.hosts;
    this.#nextId = options.nextId;
    this.#redialMs = options.redialMs;
    this.#hasAddress = options.hasAddress;
  }

  readonly dial = (target: DialTarget): Promise<FakeSocket> =>
    new Promise((resolve, reject) => {
      const { address, timeoutMs } = target;
      const source = target.source?.kind === 'address' ? target.source.address : undefined;
      const host = this.#hosts.get(address);
      if (this.#isDead) return;
      if (!host) throw new Error(`the simulation has no host at ${address}`);
      if (source !== undefined && !this.#hasAddress(source)) {
        this.#observe({ kind: 'source-missing', source });
        reject(new SourceError('unusable', 'this machine does not have the address of the source'));
        return;
      }
      const facts: ConnectionFacts = { id: this.#nextId(), host: host.plan, tls: 'none', source };
      const link = new Link(this.#time, facts, this.#observe);
      this.#links.add(link);
      link.socket.on('error', () => {});
      link.socket.once('close', () => this.#links.delete(link));
      this.#observe({ kind: 'dialled', connection: facts });
      const fail = (error: Error) => {
        link.socket.destroy(error);
        reject(error);
        this.#redial(target);
      };
      const timeout = this.#time.after(timeoutMs, () =>
        fail(new TimeoutError(`connect took longer than ${timeoutMs} ms`)),
      );
      this.#time.after(host.plan.latencyMs, () => {
        this.#observe({ kind: 'opened', connection: facts });
        const answer = host.answer(link);
        if (answer === 'silent') return;
        if (answer === 'refused') link.close();
        else link.accept(answer);
        this.#time.after(host.plan.latencyMs, () => {
          if (this.#isDead || link.socket.destroyed) return;
          timeout.cancel();
          if (answer === 'refused') {
            fail(Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' }));
            return;
          }
          this.#observe({ kind: 'connected', connection: facts });
          resolve(link.socket);
        });
      });
    });

  /** Dials again without the daemon, when a planted fault asks for it. */
  #redial(target: DialTarget): void {
    if (this.#redialMs === undefined) return;
    this.#time.after(this.#redialMs, () => {
      if (this.#isDead) return;
      this.dial(target).then(
        (socket) => socket.destroy(),
        () => {},
      );
    });
  }

  die(): void {
    this.#isDead = true;
    for (const link of [...this.#links]) link.die();
  }
}
