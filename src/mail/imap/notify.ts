/** Changes of which a client wants to be told without asking (RFC 5465), as plain data, and the mailboxes that they are about. */
import type { FetchItem } from './fetch-item.ts';
import { SEPARATOR } from './list-pattern.ts';

/** Events that clients can ask for. Messages have no annotations (RFC 5257), so AnnotationChange is missing. */
export const NOTIFY_EVENTS = [
  'MessageNew',
  'MessageExpunge',
  'FlagChange',
  'MailboxName',
  'SubscriptionChange',
  'MailboxMetadataChange',
  'ServerMetadataChange',
] as const;

export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

/** Events about messages, which are the only ones that the selected mailbox can be asked for. */
export const MESSAGE_EVENTS: readonly NotifyEvent[] = ['MessageNew', 'MessageExpunge', 'FlagChange'];

/** `inboxes` is `personal`, because mail can be delivered to every mailbox (RFC 5465 section 6.3). */
export type MailboxFilter =
  | { kind: 'personal' | 'subscribed' }
  | { kind: 'subtree' | 'named'; names: readonly string[] };

/** Events of some mailboxes. No events are asked of those that a group without events names. */
export type EventGroup = { filter: MailboxFilter; events: readonly NotifyEvent[] };

/** Events of the selected mailbox. MessageNew and MessageExpunge always come together. */
export type SelectedEvents = {
  messages: boolean;
  flags: boolean;
  /** Items that are returned of new messages. */
  items: readonly FetchItem[];
};

export type NotifyRequest = {
  /** The states of the other mailboxes are returned at once. */
  status: boolean;
  selected: SelectedEvents;
  groups: readonly EventGroup[];
};

/** Before the first NOTIFY, the client is told of the selected mailbox alone (RFC 5465 section 3.1). */
export const ALL_OF_SELECTED: SelectedEvents = { messages: true, flags: true, items: [] };

/** NOTIFY NONE: the client receives nothing but the answers to its commands. */
export const NO_EVENTS: NotifyRequest = {
  status: false,
  selected: { messages: false, flags: false, items: [] },
  groups: [],
};

type Named = { name: string; isSubscribed: boolean };

/**
 * Returns the function that returns the events that are wanted of a mailbox. It cuts the name into levels once for all groups: a name can
 * have 500 levels, and a client can send a hundred groups.
 */
export function compileGroups(groups: readonly EventGroup[]): (mailbox: Named) => ReadonlySet<NotifyEvent> {
  const groupsOf = compileNames(groups);
  return (mailbox) => {
    const named = groupsOf(mailbox.name);
    const wanted = new Set<NotifyEvent>();
    for (const group of groups) {
      const { filter, events } = group;
      const matches =
        filter.kind === 'personal' ||
        (filter.kind === 'subscribed' ? mailbox.isSubscribed : named.has(group));
      if (!matches) continue;
      if (events.length === 0) break;
      for (const event of events) wanted.add(event);
    }
    return wanted;
  };
}

type Groups = ReadonlySet<EventGroup>;
const NO_GROUPS: Groups = new Set();

/** Returns the function that returns the groups which name a mailbox, or a level above it as a subtree. */
function compileNames(groups: readonly EventGroup[]): (name: string) => Groups {
  const named = new Map<string, Set<EventGroup>>();
  const subtrees = new Map<string, Set<EventGroup>>();
  for (const group of groups) {
    const { filter } = group;
    if (!('names' in filter)) continue;
    for (const name of filter.names) {
      addTo(named, name, group);
      if (filter.kind === 'subtree') addTo(subtrees, name, group);
    }
  }
  return (name) => {
    const own = named.get(name) ?? NO_GROUPS;
    if (subtrees.size === 0) return own;
    const found = new Set(own);
    for (let end = name.lastIndexOf(SEPARATOR); end > 0; end = name.lastIndexOf(SEPARATOR, end - 1))
      for (const group of subtrees.get(name.slice(0, end)) ?? NO_GROUPS) found.add(group);
    return found;
  };
}

function addTo(groups: Map<string, Set<EventGroup>>, name: string, group: EventGroup): void {
  groups.set(name, (groups.get(name) ?? new Set()).add(group));
}
