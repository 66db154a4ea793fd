/** The pages that a reader sees behind an unsubscribe link. They need no script, and no style to be understood. */
import type { Branding } from '../branding/store.ts';
import type { TopicRow } from '../db/marketing-tables.ts';
import { isolate } from './isolate.ts';
import { type Language, textsOf } from './language.ts';
import { PublicPage } from './public-page.tsx';

/** A topic as the reader sees it. */
export type TopicChoice = Pick<TopicRow, 'id' | 'name' | 'description'> & { isOptedIn: boolean };

/** Names of the fields of the forms, and the values of `action`. */
export const ACTION = 'action';
export const TOPIC = 'topic';
/** Parameter of the query that asks for the topics. */
export const TOPICS = 'topics';
type Action = 'unsubscribe' | 'save' | 'leave' | 'return';

/**
 * Names the last action of the reader. It is `asked` before the first one, or `already-left` when the reader has left the topic of the mail
 * before; `already-left-all` follows a second request to leave everything.
 */
export type Outcome =
  | 'asked'
  | 'left-topic'
  | 'left-all'
  | 'already-left'
  | 'already-left-all'
  | 'returned'
  | 'saved';

/** Outcomes after which the reader receives no more mail of the topic, or none at all. */
const HAS_LEFT: readonly Outcome[] = ['left-topic', 'left-all', 'already-left', 'already-left-all'];

type PageProps = {
  language: Language;
  branding: Branding;
  /** Address of the reader, masked. */
  address: string;
  /** Name of the topic of the mail; undefined for mail without a topic, or whose topic was deleted. */
  topic: string | undefined;
  outcome: Outcome;
  /** The topics of the tenant; undefined for the page that links to them. */
  topics: readonly TopicChoice[] | undefined;
};

/** Returns the page. Before anything is done it has one button, and a link to the topics. */
export function PreferencesPage(props: PageProps) {
  const { language, branding, outcome, topics } = props;
  const texts = textsOf(language);
  const title = HAS_LEFT.includes(outcome) ? texts.unsubscribed : texts.title;
  return (
    <PublicPage language={language} branding={branding} title={title}>
      <p>{sentenceOf(props)}</p>
      {outcome === 'asked' && <Button action="unsubscribe">{texts.unsubscribe}</Button>}
      {topics === undefined ? (
        <p>
          <a href={`?${TOPICS}`}>{texts.choose}</a>
        </p>
      ) : (
        <>
          {topics.length > 0 && <Topics language={language} topics={topics} />}
          <Button action="leave">{texts.leaveAll}</Button>
        </>
      )}
      {outcome !== 'asked' && <Button action="return">{texts.comeBack}</Button>}
      <p>
        <small>{texts.otherMail}</small>
      </p>
    </PublicPage>
  );
}

function sentenceOf({ language, outcome, ...named }: PageProps): string {
  const texts = textsOf(language);
  const address = isolate(named.address);
  const topic = named.topic === undefined ? undefined : isolate(named.topic);
  if (outcome === 'asked')
    return topic === undefined ? texts.askAll(address) : texts.askTopic(topic, address);
  if (outcome === 'returned') return texts.returned(address);
  if (outcome === 'saved') return texts.saved(address);
  if (outcome === 'already-left' || outcome === 'already-left-all')
    return outcome === 'already-left-all' || topic === undefined
      ? texts.alreadyAll(address)
      : texts.alreadyTopic(topic, address);
  return outcome === 'left-all' || topic === undefined
    ? texts.leftAll(address)
    : texts.leftTopic(topic, address);
}

/** Returns a form with one button. It is sent to the address of the page itself. */
function Button({ action, children }: { action: Action; children: string }) {
  return (
    <form method="post">
      <button type="submit" name={ACTION} value={action}>
        {children}
      </button>
    </form>
  );
}

function Topics({ language, topics }: { language: Language; topics: readonly TopicChoice[] }) {
  const texts = textsOf(language);
  return (
    <form method="post">
      <fieldset>
        <legend>{texts.topics}</legend>
        {topics.map(({ id, name, description, isOptedIn }) => (
          <label key={id}>
            <input type="checkbox" name={TOPIC} value={id} checked={isOptedIn} />
            <span dir="auto">
              {name}
              {description !== null && <small dir="auto">{description}</small>}
            </span>
          </label>
        ))}
        <button type="submit" name={ACTION} value={'save' satisfies Action}>
          {texts.save}
        </button>
      </fieldset>
    </form>
  );
}
