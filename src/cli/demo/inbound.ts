/** Runs the steps of the demo in which mail arrives: a reader answers, and a server returns an email that it had accepted. */
import type { ApiClient } from './api-client.ts';
import { bounceOf, replyTo, sendToDaemon } from './correspondent.ts';
import { type Environment, NAMES } from './environment.ts';
import * as texts from './texts.ts';
import type { ReceivedEvent, RoutePost } from './webhook-receiver.ts';

const SUPPORT = `support@${NAMES.sender}`;
const READER = `you@${NAMES.receiver}`;
const UNKNOWN = `nobody@${NAMES.receiver}`;

type Steps = { api: ApiClient; environment: Environment; print: (text: string) => void };

/** An email that was sent. `messageId` has its angle brackets. */
type SentEmail = { id: string; messageId: string };

/** Creates a route, sends the answer to an email there, and returns the post that the daemon makes of it. */
export async function receiveReply(
  { api, environment: { daemon, webhooks }, print }: Steps,
  { messageId }: SentEmail,
): Promise<RoutePost> {
  const { secret } = await api.post<{ secret: string }>('/v1/inbound/routes', {
    address: SUPPORT,
    destination: webhooks.routeUrl,
  });
  webhooks.expectRouteSecret(secret);
  print(texts.replyLines(READER, SUPPORT));
  const text = replyTo({ messageId, from: READER, to: SUPPORT });
  await sendToDaemon(daemon, { from: READER, to: SUPPORT, text });
  const post = await webhooks.posts.first('the post to the route', ({ from }) => from.includes(READER));
  print(texts.postLines(post));
  return post;
}

/** Sends an email to a mailbox that does not exist, returns it, and resolves with the event that follows. */
export async function receiveBounce(
  { api, environment: { daemon, receiver, webhooks }, print }: Steps,
  from: string,
): Promise<ReceivedEvent> {
  const { id } = await api.post<{ id: string }>('/v1/emails', {
    from,
    to: UNKNOWN,
    subject: 'Your order is on its way',
    text: 'It left the house today.',
    type: 'transactional',
  });
  print(texts.bounceLines(id, from, UNKNOWN));
  const { mailFrom } = await receiver.mail.first('the email', ({ recipients }) =>
    recipients.includes(UNKNOWN),
  );
  const isAbout = (type: string) => (event: ReceivedEvent) => event.type === type && event.emailId === id;
  await webhooks.events.first('email.delivered', isAbout('email.delivered'));
  await sendToDaemon(daemon, { from: '', to: mailFrom, text: bounceOf(UNKNOWN) });
  return webhooks.events.first('email.bounced', isAbout('email.bounced'));
}
