/** One post to a webhook endpoint: what was sent, what was answered, and sending it again. */
import type { Static } from 'typebox';
import { path } from '../../../http/json/calls.ts';
import type { wholeDeliverySchema } from '../../../webhooks/log/schemas.ts';
import { Facts, Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { ActionButton } from '../../frame/forms.tsx';
import { Source } from '../../frame/source.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import { DELIVERY_TONES } from './deliveries.tsx';

type WholeDelivery = Static<typeof wholeDeliverySchema>;

export const deliveryPage = definePage({
  area: 'tenant',
  path: '/webhooks/:id/deliveries/:delivery',
  async show(context) {
    const { texts, formats } = context;
    const { webhooks, frame } = texts;
    const delivery = await context.api.get<WholeDelivery>(pathOf(context));
    const { eventType, status, responseStatus, responseTimeMs, responseBody, nextAttemptAt } = delivery;
    const emailId = findEmailId(delivery.requestBody);
    return {
      title: eventType,
      body: (
        <>
          <Heading title={eventType}>
            <a href={context.at(`/webhooks/${context.params['id']}/deliveries`)}>{webhooks.backToLog}</a>
            {context.can('write') && (
              <ActionButton context={context} action="replay" submit={webhooks.replay} />
            )}
          </Heading>
          <Facts
            facts={[
              [
                webhooks.status,
                <Status key="status" tone={DELIVERY_TONES[status]}>
                  {webhooks.states[status]}
                </Status>,
              ],
              [webhooks.eventId, <code key="event">{delivery.eventId}</code>],
              [webhooks.attempts, formats.number(delivery.attempts)],
              [webhooks.responseStatus, responseStatus ?? frame.none],
              [
                webhooks.responseTime,
                responseTimeMs === null ? frame.none : webhooks.milliseconds(responseTimeMs),
              ],
              [
                webhooks.nextAttemptAt,
                nextAttemptAt === null ? (
                  frame.none
                ) : (
                  <Time key="next" context={context} at={nextAttemptAt} />
                ),
              ],
              [webhooks.createdAt, <Time key="created" context={context} at={delivery.createdAt} />],
              ...(emailId === undefined
                ? []
                : [
                    [
                      webhooks.email,
                      <a key="email" href={context.at(`/emails/${emailId}`)}>
                        {emailId}
                      </a>,
                    ] as const,
                  ]),
            ]}
          />
          {delivery.error !== null && (
            <p class="notice">
              <Foreign text={delivery.error} />
            </p>
          )}
          <h2>{webhooks.requestBody}</h2>
          <Source label={webhooks.requestBody} text={delivery.requestBody} />
          <h2>{webhooks.responseBody}</h2>
          {responseBody === null || responseBody === '' ? (
            <p class="muted">{frame.none}</p>
          ) : (
            <Source label={webhooks.responseBody} text={responseBody} />
          )}
        </>
      ),
    };
  },
  actions: {
    replay: {
      async run(context) {
        await context.api.post(`${pathOf(context)}/replay`);
        return { to: context.path, said: 'postedAgain' };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/webhooks/${params['id'] ?? ''}/deliveries/${params['delivery'] ?? ''}`;
}

/** Returns the id of the email that an event is about. The body is our own; only its data differ by the type of the event. */
function findEmailId(requestBody: string): string | undefined {
  const { data } = JSON.parse(requestBody) as { data?: { emailId?: unknown } };
  return typeof data?.emailId === 'string' ? data.emailId : undefined;
}
