/**
 * The topics of streams: the tail of the operator, the tail of a tenant in a mode, the attempts at a site, and work whose progress a page shows. The name of a topic begins
 * with the path of an area, and only people who may open the pages of that area may watch the topic.
 */
import type { Readable } from 'node:stream';
import type { EventTail } from '../../events/tail.ts';
import type { TailLine } from '../../events/tail-store.ts';
import type { Calls } from '../../http/json/calls.ts';
import { tenantPath } from '../frame/layout.tsx';

/** A tail: the lines that it has, in the form in which they are sent. */
export type TailTopic = { kind: 'tail'; name: string; accepts(line: TailLine): boolean };
/** Work whose progress is watched: a page is told when the answer of an operation has changed. */
export type WorkTopic = { kind: 'work'; name: string; read(): Promise<unknown> };
/** The attempts at a site while they happen: the lines of `GET /queue/trace`. */
export type TraceTopic = { kind: 'trace'; name: string; open(): Promise<Readable> };
export type Topic = TailTopic | WorkTopic | TraceTopic;

const OPERATOR_TAIL = '/operator/tail';

/** The operator sees what happens to mail and to domains. Contacts, suppressions and broadcasts are matters of tenants. */
export const operatorTail: TailTopic = {
  kind: 'tail',
  name: OPERATOR_TAIL,
  accepts: ({ type }) => type.startsWith('email.') || type.startsWith('domain.'),
};

type OfTenant = Pick<TailLine, 'tenantId' | 'mode'> & { tenantName: string };

/** Returns the tail of a tenant in a mode. */
export function tenantTail({ tenantId, tenantName, mode }: OfTenant): TailTopic {
  return {
    kind: 'tail',
    name: `${tenantPath(tenantName, mode)}/tail`,
    accepts: (line) => line.tenantId === tenantId && line.mode === mode,
  };
}

/** Matches the paths of work in the API of a tenant, and in that of the operator. Nothing else may be asked for again and again. */
const WORK = /^\/(?:(?:broadcasts|imports|exports)\/\w{1,60}|mailboxes\/\w{1,60}\/imports)$/;
const OPERATOR_WORK = /^\/backups$/;

/** Returns the name of the topic of work. `area` is the path of a tenant in a mode, or of the operator. */
export function workName(area: string, path: string): string {
  return `${area}/work${path}`;
}

/** Returns the topic of work; undefined when its path names none. The operations check whether it may be seen. */
export function workTopic(area: string, path: string, calls: Calls): WorkTopic | undefined {
  const pattern = area === '/operator' ? OPERATOR_WORK : WORK;
  if (!pattern.test(path)) return undefined;
  return { kind: 'work', name: workName(area, path), read: () => calls.get(path) };
}

/** Returns the name of the topic of a site, which is named as `GET /queue/trace` takes it. */
export function traceName(site: string): string {
  return `/operator/trace/${site}`;
}

/** Returns the topic of a site. `calls` are the operations of the operator. */
export function traceTopic(site: string, calls: Calls): TraceTopic {
  const open = async () => (await calls.stream(`/queue/trace?${new URLSearchParams({ site })}`)).bytes;
  return { kind: 'trace', name: traceName(site), open };
}

/** Number of the newest events that are searched for the first lines of a tail. */
const SEARCHED = 1_000;
/** Number of lines with which a tail begins. */
const FIRST_LINES = 50;

/** Returns the lines with which a tail begins, the oldest first, and the position behind them. */
export async function firstLines(tail: EventTail, { accepts }: TailTopic) {
  const { lines, position } = await tail.newest(SEARCHED);
  return { lines: lines.filter(accepts).slice(-FIRST_LINES), position };
}
