/** A queue for tests of sources, whose mail arrives at one server of this machine. */
import type { App } from '../../../src/app.ts';
import type { ConfiguredPool, ConfiguredSource } from '../../../src/config/sources.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import type { Dial } from '../../../src/system/dial.ts';
import type { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import { dialLoopback } from '../../support/loopback.ts';
import { noReceiver, openSpool, type Spool } from '../../support/spool.ts';

/** Address in the configuration that a test takes away from this machine. */
const UNPLUGGED = '192.0.2.200';

export type World = Spool & {
  /** Each message that has arrived, with the address that it came from and the name in EHLO. */
  arrived: { from: string; ehlo: string; to: string }[];
  /** Number of connections. */
  connections(): number;
  /** Replies to RCPT, by the address that the connection comes from, instead of those of a server that takes everything. */
  answers: Map<string, string>;
  /** Addresses of sources that this machine does not have at present. */
  unplugged: Set<string>;
  /** Delivers all mail that is due from these sources. */
  deliverFrom(sources: ConfiguredSource[], pools?: ConfiguredPool[], more?: object): Promise<App>;
};

/** Opens a queue whose mail for every host of 198.51.100.0/24 arrives at one server of this machine. */
export async function openWorld(closing: ReturnType<typeof closeAfterTests>): Promise<World> {
  const arrived: World['arrived'] = [];
  const answers: World['answers'] = new Map();
  const names = new WeakMap<object, { ehlo: string; to: string }>();
  const server = closing(
    await startCommandServer((line, socket) => {
      const said = names.get(socket) ?? { ehlo: '', to: '' };
      names.set(socket, said);
      if (line.startsWith('EHLO ')) said.ehlo = line.slice(5);
      if (line.startsWith('RCPT TO:')) said.to = line.slice(9, line.indexOf('>'));
      const answer = line.startsWith('RCPT TO:') ? answers.get(socket.remoteAddress ?? '') : undefined;
      if (answer !== undefined) return answer;
      if (line === '.') arrived.push({ from: socket.remoteAddress ?? '', ...said });
      return acceptEverything(line);
    }),
  );
  const unplugged = new Set<string>();
  const dial: Dial = ({ source, ...target }) => {
    const from =
      source?.kind === 'address' && unplugged.has(source.address)
        ? { ...source, address: UNPLUGGED }
        : source;
    return dialLoopback({ ...target, source: from, address: '127.0.0.1', port: server.port });
  };
  const spool = closing(await openSpool({ system: { dial } }));
  spool.addZone('a.example A 198.51.100.1\nb.example A 198.51.100.2\nc.example A 198.51.100.3');
  async function deliverFrom(sources: ConfiguredSource[], pools: ConfiguredPool[] = [], more: object = {}) {
    const { config } = spool.app;
    const app = {
      ...spool.app,
      config: { ...config, outbound: { ...config.outbound, sources, pools, ...more } },
    };
    const dispatcher = startDelivering(app, noReceiver);
    await spool.settled();
    const stopped = dispatcher.stop(0);
    await spool.clock.advance(0);
    await stopped;
    return app;
  }
  return { ...spool, arrived, answers, connections: server.connections, unplugged, deliverFrom };
}
