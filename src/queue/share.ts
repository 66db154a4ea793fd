/**
 * Deals sites to the delivery threads. Each site belongs to exactly one thread, and all sites of a provider belong to the same one, so what
 * limits them is known to one thread and needs no lock. The site of a queue is known only once its route was looked up, so each queue
 * has a home besides: the thread that looks it up first, and passes it on to the owner of its site (dealer.ts).
 */
import { providerOfSite } from '../providers/provider-of-site.ts';
import { parseQueueKey } from './queue-key.ts';
import { placeOfProvider } from './shaping/restriction.ts';
import { hostsOfSite } from './site-name.ts';

/** One delivery thread: its index, from 0, among `count` threads. */
export type Share = { readonly index: number; readonly count: number };

/** The share of a thread that delivers alone. */
export const WHOLE: Share = { index: 0, count: 1 };

/** Returns the index of the home of a queue, which is the same for all queues of a domain. */
export function homeOf(queue: string, { count }: Share): number {
  if (count === 1) return 0;
  const { domain, target = domain } = parseQueueKey(queue);
  return deal(target, count);
}

/**
 * Returns the index of the thread that owns a place: a site, or `provider NAME` for all sites of one (shaping/restriction.ts). Sites that
 * differ in their source or in their TLS alone have one owner.
 */
export function ownerOf(place: string, { count }: Share): number {
  if (count === 1) return 0;
  const names = hostsOfSite(place);
  const provider = providerOfSite({ hosts: names.split(/[,/]/), relay: null });
  return deal(provider ? placeOfProvider(provider.name) : names, count);
}

/** FNV-1a, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/). */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Returns a number below `count` that depends on the text alone. */
function deal(text: string, count: number): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  return (hash >>> 0) % count;
}
