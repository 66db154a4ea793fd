/** Schemas of `GET /v1/metrics`. */
import { type Static, Type } from 'typebox';
import { GROUPS } from '../counts/mailbox-groups.ts';
import { MAX_COUNTED_DAYS } from '../counts/store.ts';
import { nullableText } from '../jobs/schemas.ts';

/** Maximum length of a report by hour, in days. */
export const MAX_HOURLY_DAYS = 31;
/** Maximum length of a report by tag, in days, because every email with the tag is read. */
export const MAX_RECOUNTED_DAYS = 31;

const time = (description: string) =>
  Type.Optional(Type.String({ description: `${description} ISO 8601 with an offset.` }));

export const metricsQuery = Type.Object({
  from: time(
    'Beginning; rounded down to a whole hour or day. By default 30 days before `to`, or 24 hours with `interval=hour`.',
  ),
  to: time('End; rounded up. By default now.'),
  interval: Type.Optional(
    Type.Enum(['hour', 'day'], {
      default: 'day',
      description: `Length of a row; days are those of UTC. At most ${MAX_HOURLY_DAYS} days by hour, and ${MAX_COUNTED_DAYS} by day.`,
    }),
  ),
  domainId: Type.Optional(Type.String({ description: 'Only mail from this domain.' })),
  type: Type.Optional(Type.Enum(['transactional', 'broadcast'], { description: 'Only mail of this type.' })),
  broadcastId: Type.Optional(Type.String({ description: 'Only copies of this broadcast.' })),
  provider: Type.Optional(
    Type.Enum([...GROUPS], {
      description: 'Only recipients at this provider, which is told by the domain of their address.',
    }),
  ),
  groupBy: Type.Optional(
    Type.Enum(['domain', 'type', 'broadcast', 'provider'], {
      description: 'Divides each row, and the totals, by this.',
    }),
  ),
  tag: Type.Optional(
    Type.String({
      description:
        'A tag such as `campaign:spring`. Counts the emails with this tag that were accepted between `from` and `to`. ' +
        `At most ${MAX_RECOUNTED_DAYS} days; it takes longer, and a tenant gets one such answer at a time.`,
      examples: ['campaign:spring'],
    }),
  ),
});
export type MetricsQuery = Static<typeof metricsQuery>;

const count = (description: string) => Type.Integer({ description });
const rate = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], { description: `${description}. Null when there were none.` });

const counters = {
  accepted: count('Recipients of accepted mail, without those that were suppressed at once.'),
  delivered: count('Recipients whose server has accepted the mail.'),
  bounced: count('Recipients that the mail could not be delivered to: the sum of the three below.'),
  bouncedPermanent: count('Bounces that suppress the address.'),
  bouncedTransient: count('Bounces after the retries have ended, and those of a full mailbox.'),
  bouncedUndetermined: count('Other bounces.'),
  complained: count('Recipients who reported the mail as spam.'),
  delayed: count('Recipients whose delivery was deferred at least once.'),
  suppressed: count('Recipients that were not attempted, because they are suppressed or have opted out.'),
  canceled: count('Recipients of mail that was canceled.'),
  opened: count('Opens by people.'),
  uniqueOpened: count('Emails that a person opened for the first time.'),
  machineOpened: count('Opens by machines, such as content filters.'),
  clicked: count('Clicks by people.'),
  uniqueClicked: count('Emails with a first click by a person.'),
  machineClicked: count('Clicks by machines.'),
  unsubscribed: count('Contacts that were unsubscribed. They belong to no domain and no broadcast.'),
  rates: Type.Object(
    {
      delivered: rate('`delivered` / `accepted`'),
      bounced: rate('`bounced` / `accepted`'),
      complained: rate('`complained` / `delivered`'),
      opened: rate('`uniqueOpened` / `delivered`'),
      clicked: rate('`uniqueClicked` / `delivered`'),
      unsubscribed: rate('`unsubscribed` / `delivered`'),
    },
    {
      description:
        'Each event counts when it happens, so a rate of a short time can exceed 1: mail that is accepted in one hour is ' +
        'delivered in the next.',
    },
  ),
};

const group = nullableText(
  'The domain, type, broadcast or provider of `groupBy`; empty for mail without one, and null without `groupBy`.',
);

const COUNTS_EXAMPLE = {
  accepted: 1_204,
  delivered: 1_187,
  bounced: 11,
  bouncedPermanent: 8,
  bouncedTransient: 2,
  bouncedUndetermined: 1,
  complained: 1,
  delayed: 23,
  suppressed: 4,
  canceled: 0,
  opened: 702,
  uniqueOpened: 415,
  machineOpened: 388,
  clicked: 131,
  uniqueClicked: 96,
  machineClicked: 240,
  unsubscribed: 3,
  rates: {
    delivered: 0.98588,
    bounced: 0.009136,
    complained: 0.000842,
    opened: 0.349621,
    clicked: 0.080876,
    unsubscribed: 0.002527,
  },
};

export const metricsSchema = Type.Object(
  {
    from: Type.String({ description: 'Beginning of the first hour or day.' }),
    to: Type.String({ description: 'End of the last hour or day.' }),
    interval: Type.Enum(['hour', 'day']),
    totals: Type.Object(counters, { description: 'Sums of all rows.' }),
    groups: Type.Array(Type.Object({ group, ...counters }), {
      description: 'Sums of each group; empty without `groupBy`.',
    }),
    data: Type.Array(
      Type.Object({
        start: Type.String({ description: 'Beginning of the hour or day.' }),
        group,
        ...counters,
      }),
      { description: 'One row for each hour or day, and group, that has any events, oldest first.' },
    ),
  },
  {
    title: 'Metrics',
    examples: [
      {
        from: '2026-03-01T00:00:00.000Z',
        to: '2026-03-08T00:00:00.000Z',
        interval: 'day',
        totals: COUNTS_EXAMPLE,
        groups: [],
        data: [{ start: '2026-03-03T00:00:00.000Z', group: null, ...COUNTS_EXAMPLE }],
      },
    ],
  },
);
export type Metrics = Static<typeof metricsSchema>;
