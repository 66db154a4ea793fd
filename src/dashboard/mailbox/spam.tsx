/**
 * The senders of the newest mail in the folder for spam. The owner chooses whose mail is never spam, or always. It is the one page that shows
 * something of the mail itself, so it asks the account and no operation of the API: keys of the tenant do not see it.
 */
import { MAX_JUNK_MESSAGES } from '../../accounts/junk-senders.ts';
import { parseMailbox } from '../../mail/address.ts';
import { invalid } from '../../system/errors.ts';
import { Foreign, Heading, Time } from '../frame/elements.tsx';
import { ActionButton, Field, Form, Select } from '../frame/forms.tsx';
import { Table } from '../frame/lists.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { RULES_PAGE, readRules } from './seen-rules.ts';
import { CHOICES, type Choice, choicesIn, type SenderChoice, withChoice } from './sender-rules.ts';

type MailboxContext = Contexts['mailbox'];
type Chosen = ReadonlyMap<string, Choice>;

const PAGE = '/mailbox/spam';

export const spamSendersPage = definePage({
  area: 'mailbox',
  path: '/spam',
  menu: { group: 'mailbox', label: ({ spamSenders }) => spamSenders.title },
  async show(context) {
    const { texts, formats } = context;
    const { spamSenders } = texts;
    const { folder, senders } = await context.app.accounts.listJunkSenders(context.mailbox);
    const choices = choicesIn((await readRules(context)).rules, folder);
    const chosen: Chosen = new Map(choices.map(({ address, choice }) => [address, choice]));
    const listed = new Set(senders.map(({ address }) => address));
    return {
      title: spamSenders.title,
      body: (
        <>
          <Heading title={spamSenders.title}>
            <a href={RULES_PAGE}>{spamSenders.rules}</a>
          </Heading>
          <p>{spamSenders.introduction(formats.number(MAX_JUNK_MESSAGES))}</p>
          <p>{spamSenders.effect}</p>
          <Table
            context={context}
            caption={spamSenders.caption}
            rows={senders}
            keyOf={({ address }) => address}
            empty={spamSenders.none}
            columns={[
              {
                label: spamSenders.sender,
                cell: ({ address, name }) => (
                  <>
                    <Foreign text={address} />{' '}
                    <span class="muted">{name !== '' && <Foreign text={name} />}</span>
                  </>
                ),
              },
              ...choiceColumns<(typeof senders)[number]>(context, chosen),
              { label: spamSenders.messages, cell: (row) => formats.number(row.messages), isNumeric: true },
              { label: spamSenders.last, cell: ({ lastAt }) => <Time context={context} at={lastAt} /> },
            ]}
          />
          <Others context={context} choices={choices.filter(({ address }) => !listed.has(address))} />
          <AnotherSender context={context} />
        </>
      ),
    };
  },
  actions: {
    never: { logs: ['address'], run: (context, form) => choose(context, fieldOf(form, 'address'), 'never') },
    always: {
      logs: ['address'],
      run: (context, form) => choose(context, fieldOf(form, 'address'), 'always'),
    },
    clear: {
      logs: ['address'],
      run: (context, form) => choose(context, fieldOf(form, 'address'), undefined),
    },
    choose: {
      logs: ['address', 'choice'],
      run(context, form) {
        const choice = CHOICES.find((one) => one === fieldOf(form, 'choice')) ?? 'never';
        return choose(context, fieldOf(form, 'address'), choice);
      },
    },
  },
});

async function choose(context: MailboxContext, text: string, choice: Choice | undefined) {
  const mailbox = parseMailbox(text.trim());
  if (!mailbox || mailbox.name !== undefined)
    throw invalid('address', '`address` must be one address such as ann@example.com');
  const { folder } = await context.app.accounts.listJunkSenders(context.mailbox);
  const { rules } = await readRules(context);
  await context.api.patch('', { rules: withChoice(rules, { address: mailbox.address, choice }, folder) });
  return { to: PAGE, said: 'saved' as const };
}

/** The choice for a sender, and the buttons for another one. */
function choiceColumns<Row extends { address: string }>(context: MailboxContext, chosen: Chosen) {
  const { spamSenders, frame } = context.texts;
  return [
    {
      label: spamSenders.choice,
      cell: ({ address }: Row) => spamSenders.choices[chosen.get(address) ?? 'none'],
    },
    {
      label: frame.actions,
      cell: ({ address }: Row) => (
        <Choices context={context} address={address} choice={chosen.get(address)} />
      ),
    },
  ];
}

type ChoicesProps = { context: MailboxContext; address: string; choice: Choice | undefined };

function Choices({ context, address, choice }: ChoicesProps) {
  const { spamSenders } = context.texts;
  const others = (['never', 'always', 'clear'] as const).filter((one) => one !== (choice ?? 'clear'));
  return (
    <div class="buttons">
      {others.map((action) => (
        <ActionButton
          key={action}
          context={context}
          action={action}
          submit={spamSenders[action]}
          label={`${spamSenders[action]}: ${address}`}
          about={{ address }}
        />
      ))}
    </div>
  );
}

/** The chosen senders whose mail is not among the newest in the folder. */
function Others({ context, choices }: { context: MailboxContext; choices: readonly SenderChoice[] }) {
  const { spamSenders } = context.texts;
  if (choices.length === 0) return null;
  const chosen: Chosen = new Map(choices.map(({ address, choice }) => [address, choice]));
  return (
    <section aria-labelledby="chosen">
      <h2 id="chosen">{spamSenders.chosenTitle}</h2>
      <Table
        context={context}
        caption={spamSenders.chosenCaption}
        rows={choices}
        keyOf={({ address }) => address}
        columns={[
          { label: spamSenders.sender, cell: ({ address }) => <Foreign text={address} /> },
          ...choiceColumns<SenderChoice>(context, chosen),
        ]}
      />
    </section>
  );
}

function AnotherSender({ context }: { context: MailboxContext }) {
  const { spamSenders, frame } = context.texts;
  const field = { context, action: 'choose' };
  return (
    <section aria-labelledby="another">
      <h2 id="another">{spamSenders.otherTitle}</h2>
      <Form context={context} action="choose" submit={frame.save}>
        <Field
          {...field}
          name="address"
          type="email"
          label={spamSenders.address}
          help={spamSenders.addressHelp}
          isRequired
        />
        <Select
          {...field}
          name="choice"
          label={spamSenders.choice}
          options={CHOICES.map((value) => ({ value, label: spamSenders.choices[value] }))}
        />
      </Form>
    </section>
  );
}
