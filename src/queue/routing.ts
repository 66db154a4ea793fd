/** Looks up the route of a queue for the thread that asks, or says which thread owns its site. */
import { errorMessage } from '../system/errors.ts';
import type { Elsewhere } from './dealer.ts';
import type { DeliveryApp } from './delivery-app.ts';
import { parseQueueKey } from './queue-key.ts';
import { ownerOf } from './share.ts';
import { chooseWay, fromSource, type Route, type Waiting } from './site/route.ts';

/** Returns the route of a queue. A failure is a dead end, whose mail is tried again later. */
export async function findRoute(app: DeliveryApp, key: string): Promise<Route | Waiting | Elsewhere> {
  const name = parseQueueKey(key);
  const { clock, monitor, log, peers } = app;
  const begunAt = clock.elapsed();
  try {
    const way = await chooseWay(app, name);
    const thread = way.kind === 'dead-end' ? peers.share.index : ownerOf(way.site, peers.share);
    const isOwn = thread === peers.share.index;
    // The owner chooses the source, since it knows which ones rest there and how much they have sent.
    const route = isOwn ? await fromSource(app, name, way) : elsewhere(thread, way);
    monitor.observePart('route', clock.elapsed() - begunAt);
    return route;
  } catch (error) {
    const { domain } = name;
    log.error({ err: error, domain }, 'a domain could not be looked up');
    const plan = { kind: 'unresolved', reason: errorMessage(error) } as const;
    return { kind: 'dead-end', site: `dead end ${domain}`, domain, plan };
  }
}

function elsewhere(thread: number, way: Route): Elsewhere {
  return { kind: 'elsewhere', thread, ttlMs: way.kind === 'hosts' ? way.ttlMs : 0 };
}
