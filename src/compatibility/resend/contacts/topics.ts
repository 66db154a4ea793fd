/** Translates the choices of a contact about topics. */
import type { ShownContact } from '../../../audiences/contacts/schemas.ts';
import type { Calls } from '../../../http/json/calls.ts';
import { MAX_TOPICS } from '../../../topics/store.ts';
import type { Access, Given } from '../call.ts';
import { isFields } from '../fields.ts';
import { type Page, showPage } from '../lists.ts';
import { type ShownTopic, subscriptionOf } from '../topics.ts';
import { askOne, getContact } from './place.ts';

/** Returns the choices of a request: a list, or an object with one in `topics`. */
export function choicesOf({ body }: Given): unknown {
  return isFields(body) ? body['topics'] : body;
}

/** Lists all topics with what applies to a contact: its own choice, or the default of the topic. */
export async function listTopicsOf(given: Given, calls: Calls, access: Access) {
  const { params } = await askOne(given, access);
  const { topics: chosen } = await getContact(params, calls);
  const { data } = await calls.get<Page<ShownTopic>>('/topics', { limit: MAX_TOPICS });
  return showPage(showContactTopic(chosen))({ data, hasMore: false });
}

function showContactTopic(chosen: ShownContact['topics']) {
  return ({ id, name, description, defaultOptIn }: ShownTopic) => {
    const choice = chosen.find((one) => one.id === id);
    return { id, name, description, subscription: choice?.subscription ?? subscriptionOf(defaultOptIn) };
  };
}
