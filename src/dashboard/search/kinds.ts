/** The resources that have ids of their own: which operation returns one, and which page shows it. */

import { path } from '../../http/json/calls.ts';
import { isId } from '../../system/ids.ts';
import { MAX_ENDPOINTS } from '../../webhooks/store.ts';

type Kind = {
  /** Path of the resource in the API. */
  api: string;
  /** Pattern of its page. */
  page: string;
};

/** Resources by the prefix of their ids. */
const KINDS = {
  aud: { api: '/audiences', page: '/audiences/:audienceId' },
  brd: { api: '/broadcasts', page: '/broadcasts/:id' },
  dom: { api: '/domains', page: '/domains/:id' },
  em: { api: '/emails', page: '/emails/:id' },
  exp: { api: '/exports', page: '/exports/:exportId' },
  imp: { api: '/imports', page: '/imports/:importId' },
  in: { api: '/inbound/messages', page: '/inbound/:id' },
  key: { api: '/api-keys', page: '/keys/:id' },
  mbx: { api: '/mailboxes', page: '/mailboxes/:id' },
  rt: { api: '/inbound/routes', page: '/routes/:id' },
  seg: { api: '/segments', page: '/segments/:segmentId' },
  top: { api: '/topics', page: '/topics/:topicId' },
  tpl: { api: '/templates', page: '/templates/:id' },
  wh: { api: '/webhooks', page: '/webhooks/:id' },
} as const satisfies Record<string, Kind>;

/** Returns the kind of an id; undefined for any other text. */
export function kindOfId(text: string): Kind | undefined {
  const prefix = Object.keys(KINDS).find((one) => isId(one, text));
  return prefix === undefined ? undefined : KINDS[prefix as keyof typeof KINDS];
}

/** A resource below another one, which its id does not name. Its page has the path that the API has for it. */
type KindBelow = {
  /** List of the resources that it may be below, of which the newest `limit` are asked. */
  list: string;
  limit: number;
  pathOf(parent: string, id: string): string;
};

/** Maximum number of audiences in which a contact is looked for. */
export const MAX_AUDIENCES = 20;

const KINDS_BELOW = {
  ct: {
    list: '/audiences',
    limit: MAX_AUDIENCES,
    pathOf: (audience, id) => path`/audiences/${audience}/contacts/${id}`,
  },
  whd: {
    list: '/webhooks',
    limit: MAX_ENDPOINTS,
    pathOf: (webhook, id) => path`/webhooks/${webhook}/deliveries/${id}`,
  },
} as const satisfies Record<string, KindBelow>;

/** Returns the kind of an id below another resource; undefined for any other text. */
export function kindBelow(text: string): KindBelow | undefined {
  const prefix = Object.keys(KINDS_BELOW).find((one) => isId(one, text));
  return prefix === undefined ? undefined : KINDS_BELOW[prefix as keyof typeof KINDS_BELOW];
}

/** Returns the path of a page whose only parameter is this id. */
export function pagePathOf({ page }: Kind, id: string): string {
  return page.replace(/:\w+/, () => path`${id}`);
}
