/** Changes of which a client wants to be told without asking (RFC 5465), as plain data, and the mailboxes that they are about. */
import type { FetchItem } from './fetch-item.ts';
import { SEPARATOR } from './mailbox-name.ts';

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

/** NOTIFY NONE: the client is told nothing but what its commands answer. */
export const NO_EVENTS: NotifyRequest = {
  status: false,
  selected: { messages: false, flags: false, items: [] },
  groups: [],
};

type Named = { name: string; isSubscribed: boolean };

/** Returns the function that tells the events that are wanted of a mailbox. */
export function compileGroups(groups: readonly EventGroup[]): (mailbox: Named) => ReadonlySet<NotifyEvent> {
  const compiled = groups.map(({ filter, events }) => ({ matches: compileFilter(filter), events }));
  return (mailbox) => {
    const wanted = new Set<NotifyEvent>();
    for (const { matches, events } of compiled) {
      if (!matches(mailbox)) continue;
      if (events.length === 0) break;
      for (const event of events) wanted.add(event);
    }
    return wanted;
  };
}

function compileFilter(filter: MailboxFilter): (mailbox: Named) => boolean {
  switch (filter.kind) {
    case 'personal':
      return () => true;
    case 'subscribed':
      return ({ isSubscribed }) => isSubscribed;
    case 'named': {
      const names = new Set(filter.names);
      return ({ name }) => names.has(name);
    }
    case 'subtree': {
      const names = new Set(filter.names);
      return ({ name }) => names.has(name) || parentsOf(name).some((parent) => names.has(parent));
    }
  }
}

/** Returns the names of all levels above a mailbox, the lowest first. */
function parentsOf(name: string): string[] {
  const parents: string[] = [];
  for (let end = name.lastIndexOf(SEPARATOR); end > 0; end = name.lastIndexOf(SEPARATOR, end - 1))
    parents.push(name.slice(0, end));
  return parents;
}
