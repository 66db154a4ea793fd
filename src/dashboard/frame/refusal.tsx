/**
 * Says why a form was refused. The API names its own fields, which nobody sees on a page, so that each of them is replaced by the label that the
 * field has in the form.
 */
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { AppError, Issue } from '../../system/errors.ts';
import type { BaseContext } from '../page.ts';
import { translate, translateRefusal, type Words } from '../texts/sentences.ts';

type Labels = Map<string, string>;

const FieldLabels = createContext<Labels | undefined>(undefined);

/** Notes the label of a field for a refusal of its form. A page is rendered from its beginning, and the refusal stands behind the fields. */
export function useLabel(name: string, label: string | undefined): void {
  const labels = useContext(FieldLabels);
  if (label !== undefined) labels?.set(name, label);
}

type Props = {
  context: BaseContext;
  refusal: AppError | undefined;
  /** Id of the element that has the reason. */
  id?: string;
  children: ComponentChildren;
};

/** The fields of a form, and behind them the reason for which it was refused. */
export function WithRefusal({ context, refusal, id, children }: Props) {
  if (!refusal) return children;
  const labels: Labels = new Map();
  return (
    <FieldLabels.Provider value={labels}>
      {children}
      <Reason context={context} refusal={refusal} id={id} labels={labels} />
    </FieldLabels.Provider>
  );
}

/** Says why a form was refused that the page does not have any more, because what it acts on has gone. It stands behind the content of the page. */
export function UnshownRefusal({ context }: { context: Pick<BaseContext, 'failed' | 'formats' | 'texts'> }) {
  const { failed } = context;
  if (!failed || failed.isShown) return null;
  return <Reason context={context} refusal={failed.refusal} id="refused" labels={new Map()} />;
}

type ReasonProps = {
  context: Pick<BaseContext, 'formats' | 'texts'>;
  refusal: AppError;
  id: string | undefined;
  labels: Labels;
};

function Reason({ context, refusal, id, labels }: ReasonProps) {
  const { quoted } = context.texts.frame;
  const { issues = [] } = refusal.options;
  const labelled = (text: string) => withLabels(text, (name) => labels.get(name), quoted);
  return (
    <div class="refused" role="alert" id={id} tabIndex={-1}>
      <Why context={context} refusal={refusal} labelled={labelled} />
      {issues.length > 1 && (
        <ul>
          {issues.map((issue) => (
            <li key={issue.path}>
              <IssueWords context={context} issue={issue} labelled={labelled} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

type WhyProps = {
  context: Pick<BaseContext, 'formats'>;
  refusal: AppError;
  /** Returns a text with the labels of fields in the place of their names. */
  labelled?: (text: string) => string;
};

/** The reason of a refusal, in the language of the page where it is known, and in English otherwise. */
export function Why({ context, refusal, labelled = (text) => text }: WhyProps) {
  const { text, lang } = translateRefusal(context.formats.language, refusal);
  return <InLanguage text={labelled(text)} lang={lang} />;
}

type IssueProps = Required<Omit<WhyProps, 'refusal'>> & { issue: Issue };

/** One of several reasons. The message of an issue leaves its field out, which translations have. */
function IssueWords({ context, issue: { path, message }, labelled }: IssueProps) {
  const { language } = context.formats;
  const field = `\`${path}\``;
  const whole = translate(language, `${field} ${message}`);
  if (language !== 'en' && whole.lang === undefined) return labelled(whole.text);
  const { text, lang } = translate(language, message);
  return (
    <>
      {labelled(field)}: <InLanguage text={text} lang={lang} />
    </>
  );
}

function InLanguage({ text, lang }: { text: string; lang: Words['lang'] | undefined }) {
  return lang === undefined ? text : <span lang={lang}>{text}</span>;
}

/**
 * Returns a message of the API in which the names of fields, such as `events[0]` in backticks, are replaced by their labels, with the number of
 * the value when there are several. Names without a label stay as they are.
 */
export function withLabels(
  message: string,
  labelOf: (name: string) => string | undefined,
  quoted: (label: string) => string,
): string {
  return message.replace(/`([\w.]+)(?:\[(\d+)\])?`/g, (code, name: string, index?: string) => {
    const label = labelOf(name) ?? labelOf(name.split('.', 1)[0] ?? name);
    if (label === undefined) return code;
    return index === undefined ? quoted(label) : `${quoted(label)} (${Number(index) + 1})`;
  });
}
