/** Tools for audiences, their contacts and segments. */
import { type Static, Type } from 'typebox';
import type { contactSchema } from '../../audiences/contacts/schemas.ts';
import type { audienceSchema } from '../../audiences/schemas.ts';
import { COMPARISONS } from '../../audiences/segments/field.ts';
import type { countSchema, segmentSchema } from '../../audiences/segments/schemas.ts';
import { path } from '../../http/json/calls.ts';
import type { topicSchema } from '../../topics/schemas.ts';
import { addressArgument, idArgument, oneOf, optional, pageArguments, valueArgument } from '../arguments.ts';
import { saysPage } from '../says-page.ts';
import { defineTool, input } from '../tool.ts';

type Contact = Static<typeof contactSchema>;
type Page<Item> = { data: Item[]; nextCursor: string | null };

/** Number of audiences, segments and topics that a list shows. */
const LISTED = 25;
/** Maximum number of rules of a count. The API takes more, in groups. */
const MAX_RULES = 20;
const MAX_VALUES = 25;

const audienceArgument = { audienceId: idArgument('aud', 'Audience. `list_audiences` shows them.') };

export const listAudiences = defineTool({
  name: 'list_audiences',
  title: 'List audiences, segments and topics',
  description:
    'Lists the newest audiences with their number of contacts, the segments (saved filters) and the topics (kinds of mail that readers can ' +
    'leave). Use it to find whom a broadcast can go to.',
  effect: 'reads',
  input: input({}),
  async run({ api }) {
    const query = { limit: LISTED };
    const [audiences, segments, topics] = await Promise.all([
      api.get<Page<Static<typeof audienceSchema>>>('/audiences', query),
      api.get<Page<Static<typeof segmentSchema>>>('/segments', query),
      api.get<Page<Static<typeof topicSchema>>>('/topics', query),
    ]);
    const isWhole = [audiences, segments, topics].every(({ nextCursor }) => nextCursor === null);
    const counts = `Audiences: ${audiences.data.length}, segments: ${segments.data.length}, topics: ${topics.data.length}.`;
    return {
      says: isWhole ? counts : `${counts} Only the newest ${LISTED} of each are listed.`,
      foreign: { audiences: audiences.data, segments: segments.data, topics: topics.data },
    };
  },
});

export const findContacts = defineTool({
  name: 'find_contacts',
  title: 'Find contacts',
  description: 'Lists the contacts of an audience, the newest first, or finds the one with an address.',
  effect: 'reads',
  input: input({
    ...audienceArgument,
    email: optional(addressArgument('Address of the contact.')),
    status: optional(oneOf(['subscribed', 'unsubscribed', 'pending'], 'Only contacts with this status.')),
    ...pageArguments,
  }),
  async run({ api }, { audienceId, limit = 10, ...query }) {
    const page = await api.get<Page<Contact>>(path`/audiences/${audienceId}/contacts`, { limit, ...query });
    return { says: saysPage('contacts', page), foreign: page.data };
  },
});

export const addContact = defineTool({
  name: 'add_contact',
  title: 'Add a contact',
  description:
    'Adds a person to an audience, or changes the names and properties of the contact with the same address. Add only people who asked for this mail.',
  effect: 'adds',
  input: input({
    ...audienceArgument,
    email: addressArgument('Address, without a name.'),
    firstName: optional(valueArgument('First name.')),
    lastName: optional(valueArgument('Last name.')),
    properties: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[A-Za-z0-9_]{1,64}$' }),
        Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean()]),
        {
          maxProperties: 50,
          additionalProperties: false,
          description: 'Properties, such as the plan of a customer.',
        },
      ),
    ),
  }),
  output: Type.Object({ id: Type.String(), audienceId: Type.String(), status: Type.String() }),
  async run({ api }, { audienceId, ...contact }) {
    const at = `${path`/audiences/${audienceId}/contacts`}?upsert=true`;
    const { id, status } = await api.post<Contact>(at, contact);
    const says =
      status === 'unsubscribed'
        ? 'The contact is there, and has unsubscribed: it receives no broadcasts.'
        : 'The contact is in the audience.';
    return { says, facts: { id, audienceId, status } };
  },
});

const scalar = [Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean()];

export const countSegment = defineTool({
  name: 'count_segment',
  title: 'Count a segment',
  description:
    'Counts the contacts of a saved segment, or of an audience that match rules, before a broadcast is made for them. Fields are email, firstName, ' +
    'lastName, unsubscribed, createdAt, properties.<key>, topics.<id>, delivered, opened, clicked and more; a refusal lists them.',
  effect: 'reads',
  input: input({
    segmentId: optional(idArgument('seg', 'Saved segment. Give it, or `audienceId` with `rules`.')),
    audienceId: optional(audienceArgument.audienceId),
    match: optional(
      oneOf(['all', 'any'], 'Whether all rules have to match or one is enough; all by default.'),
    ),
    rules: Type.Optional(
      Type.Array(
        Type.Object(
          {
            field: valueArgument('Field, such as properties.plan.'),
            cmp: oneOf(COMPARISONS, 'Comparison.'),
            value: Type.Optional(
              Type.Union([...scalar, Type.Array(Type.Union(scalar), { maxItems: MAX_VALUES })], {
                description: 'Value; a list for in and not_in, nothing for exists and not_exists.',
              }),
            ),
          },
          { additionalProperties: false },
        ),
        { maxItems: MAX_RULES, description: 'Rules. Without any, all contacts count.' },
      ),
    ),
  }),
  output: Type.Object({ contactCount: Type.Integer() }),
  async run({ api }, { segmentId, audienceId, match = 'all', rules = [] }) {
    const { contactCount = 0 } =
      segmentId === undefined
        ? await api.post<Static<typeof countSchema>>('/segments/count', {
            audienceId,
            filter: { op: match === 'all' ? 'and' : 'or', rules },
          })
        : await api.get<Static<typeof segmentSchema>>(path`/segments/${segmentId}`, { count: true });
    return { says: `Contacts that match: ${contactCount}.`, facts: { contactCount } };
  },
});
