/**
 * Forms and their fields. A form works without JavaScript: it is sent to the address of its page, names its action, and a refusal is shown
 * beside its button.
 */
import type { ComponentChildren } from 'preact';
import type { Form as FormBody } from '../../http/pages/form-body.ts';
import { ACTION_FIELD, DISCARD_ACTION, DRAFT_FIELD, ONCE_FIELD } from '../field-names.ts';
import type { BaseContext } from '../page.ts';
import { newToken } from '../people/tokens.ts';
import { Time } from './elements.tsx';
import { useLabel, WithRefusal } from './refusal.tsx';
import { shortened } from './shortened.ts';

/**
 * Returns the action of a form. The form names its own one first, and the button that was pressed may name another one, with a word behind it
 * that says what it is about.
 */
export function actionOf(form: FormBody): { name: string; about: string } {
  const [name = '', about = ''] = (form.values(ACTION_FIELD).at(-1) ?? '').split(' ', 2);
  return { name, about };
}

type Children = { children: ComponentChildren };

type FormProps = Children & {
  context: BaseContext;
  /** Name of the action in the page's definition. */
  action: string;
  /** Label of the button. */
  submit: string;
  /** True for an action that deletes or stops something. */
  isDangerous?: boolean;
  /** True for a form with files. */
  hasFiles?: boolean;
  /** Accessible name of the form, when its button does not say enough. */
  label?: string;
  /** True when what somebody has entered is kept as a draft when the session ends. */
  keepsDraft?: boolean;
  /** Hidden fields that say what the form acts on. They tell it from other forms of its action on the page when one was refused. */
  about?: Readonly<Record<string, string>>;
  /** Other hidden fields. */
  fields?: Readonly<Record<string, string>>;
  /** Further buttons behind the first one, which send the same fields to other actions of the page. */
  others?: readonly OtherButton[];
};

type OtherButton = {
  action: string;
  label: string;
  /** Name of a frame of the page that shows the answer, while the form stays. */
  frame?: string;
};

/** A form of the page. When its action was refused, it says why beside the button, and shows what was entered. */
export function Form(props: FormProps) {
  const { context, action, submit, isDangerous, hasFiles, label, keepsDraft, children } = props;
  const { about = {}, fields = {}, others = [] } = props;
  const refusal = refusalOf(props);
  const draft = refusal ? undefined : draftOf(context, action);
  const form = (
    <form
      method="post"
      action={addressOf(context)}
      enctype={hasFiles ? 'multipart/form-data' : undefined}
      aria-label={label}
      data-draft={keepsDraft ? '' : undefined}
    >
      <input type="hidden" name={ACTION_FIELD} value={action} />
      <input type="hidden" name={ONCE_FIELD} value={newToken()} />
      {keepsDraft && <input type="hidden" name={DRAFT_FIELD} value="1" />}
      {Object.entries({ ...about, ...fields }).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <WithRefusal context={context} refusal={refusal} id={`${action}-refused`}>
        {children}
      </WithRefusal>
      <div class="buttons">
        <button type="submit" class={isDangerous ? 'danger' : undefined}>
          {submit}
        </button>
        {others.map((other) => (
          <button
            key={other.action}
            type="submit"
            class="secondary outline"
            name={ACTION_FIELD}
            value={other.action}
            formTarget={other.frame}
            formNoValidate={other.frame !== undefined}
          >
            {other.label}
          </button>
        ))}
      </div>
    </form>
  );
  return draft ? (
    <>
      <DraftNotice context={context} action={action} keptAt={draft.keptAt} />
      {form}
    </>
  ) : (
    form
  );
}

type DraftNoticeProps = { context: BaseContext; action: string; keptAt: number };

/** Says that a form shows what was entered before, and lets that be thrown away. */
function DraftNotice({ context, action, keptAt }: DraftNoticeProps) {
  const { draft, discardDraft } = context.texts.frame;
  return (
    <div class="notice">
      <p>
        {draft} <Time context={context} at={keptAt} />
      </p>
      <form method="post" action={addressOf(context)}>
        <input type="hidden" name={ACTION_FIELD} value={action} />
        <input type="hidden" name={DRAFT_FIELD} value="1" />
        <button type="submit" class="secondary outline" name={ACTION_FIELD} value={DISCARD_ACTION}>
          {discardDraft}
        </button>
      </form>
    </div>
  );
}

function draftOf({ drafts = [] }: BaseContext, action: string) {
  return drafts.find((draft) => draft.action === action);
}

/** Returns the address of the page, to which its forms are sent. */
export function addressOf({ path, query }: Pick<BaseContext, 'path' | 'query'>): string {
  return query.size > 0 ? `${path}?${query}` : path;
}

/** Returns why the form was refused, which is then shown; undefined for another form, and before any was sent. */
function refusalOf({
  context: { failed },
  action,
  about = {},
}: Pick<FormProps, 'context' | 'action' | 'about'>) {
  if (failed?.action !== action) return undefined;
  // The layout shows a reason that no form has shown.
  const isThis = Object.entries(about).every(([name, value]) => failed.form.values(name).includes(value));
  if (!isThis) return undefined;
  failed.isShown = true;
  return failed.refusal;
}

/** A button with a form of its own. */
export function ActionButton(form: Omit<FormProps, 'children'>) {
  return (
    <div class="inline">
      <Form {...form}>{null}</Form>
    </div>
  );
}

/** Content behind a button that opens it, such as a question before something is deleted. It is open when its action was refused. */
export function Disclosure({
  label,
  isOpen,
  children,
}: Children & { label: string; isOpen?: boolean | undefined }) {
  return (
    <details open={isOpen}>
      <summary class="opener">{label}</summary>
      {children}
    </details>
  );
}

type FieldProps = {
  context: BaseContext;
  /** Name of the action whose form the field is in. */
  action: string;
  name: string;
  label: string;
  type?:
    | 'text'
    | 'email'
    | 'password'
    | 'number'
    | 'search'
    | 'url'
    | 'date'
    | 'datetime-local'
    | 'file'
    | 'color';
  value?: string | undefined;
  help?: ComponentChildren;
  isRequired?: boolean;
  autocomplete?: string;
  /** Number of lines of a text of several lines. */
  rows?: number;
  isDisabled?: boolean;
  maxLength?: number;
  placeholder?: string | undefined;
  /** Values that a browser offers while the field is filled in. */
  suggestions?: readonly Option[] | undefined;
  /** Id of `Suggestions` of the page, which several fields share. */
  list?: string | undefined;
};

/** Returns the id of a field. A name may be a path, such as `optIn.from`, and a form may have no action of its own. */
function fieldId(action: string, name: string): string {
  return `${action || 'form'}-${name}`.replace(/[^\w-]/g, '-');
}

/** A labelled field. It has what was entered before, and is marked when the refusal of its form is about it. */
export function Field(props: FieldProps) {
  const { context, action, name, label, type = 'text', help, rows, isRequired, suggestions, ...more } = props;
  const { list = suggestions && `${fieldId(action, name)}-suggestions` } = more;
  const { value, isInvalid } = enteredIn(props);
  const id = fieldId(action, name);
  useLabel(name, label);
  const common = {
    id,
    name,
    required: isRequired,
    'aria-invalid': isInvalid ? ('true' as const) : undefined,
    'aria-describedby': help === undefined ? undefined : `${id}-help`,
    autocomplete: more.autocomplete,
    disabled: more.isDisabled,
    maxLength: more.maxLength,
    placeholder: more.placeholder,
    dir: 'auto' as const,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <input
          {...common}
          type={type as 'text'}
          list={list}
          value={type === 'password' || type === 'file' ? undefined : value}
        />
      ) : (
        // HTML leaves out a line end at the beginning of a text.
        <textarea {...common} rows={rows} spellcheck={false}>
          {value?.startsWith('\n') ? `\n${value}` : value}
        </textarea>
      )}
      {suggestions && list !== undefined && <Suggestions id={list} options={suggestions} />}
      {help !== undefined && <small id={`${id}-help`}>{help}</small>}
    </div>
  );
}

/** Values that a browser offers in fields that name this id as their `list`. */
export function Suggestions({ id, options }: { id: string; options: readonly Option[] }) {
  return (
    <datalist id={id}>
      {options.map((option) => (
        <option
          key={option.value}
          value={option.value}
          label={option.label === option.value ? undefined : labelOf(option)}
        />
      ))}
    </datalist>
  );
}

/** A labelled choice of yes or no. A checked box sends the value `on`. */
export function Checkbox({
  label,
  isChecked,
  help,
  ...props
}: Pick<FieldProps, 'context' | 'action' | 'name' | 'label' | 'help'> & {
  isChecked?: boolean;
  value?: string;
}) {
  const { context, action, name, value } = props;
  // Boxes of a group have values, and the label of their field is that of the group.
  useLabel(name, value === undefined ? label : undefined);
  const entered = context.failed?.action === action ? context.failed : draftOf(context, action);
  const checked = entered ? entered.form.values(name).includes(value ?? 'on') : isChecked;
  return (
    <div class="field">
      <label>
        <input type="checkbox" name={name} value={value ?? 'on'} checked={checked} /> {label}
      </label>
      {help !== undefined && <small>{help}</small>}
    </div>
  );
}

/** The boxes of a choice of several, which share a name. */
export function Choices({ name, label, children }: Children & Pick<FieldProps, 'name' | 'label'>) {
  useLabel(name, label);
  return (
    <fieldset>
      <legend>{label}</legend>
      <div class="choices">{children}</div>
    </fieldset>
  );
}

export type Option = { value: string; label: string };

/** Maximum length of the label of an option: a choice is as wide as its longest one, and no screen shows more. */
const MAX_LABEL_CHARACTERS = 80;

/** Returns the label of an option, whose end is cut off when it is long. */
export function labelOf({ label }: Option): string {
  return shortened(label, MAX_LABEL_CHARACTERS);
}

/** A labelled choice of one among several. */
export function Select({
  options,
  help,
  ...props
}: Pick<FieldProps, 'context' | 'action' | 'name' | 'label' | 'value' | 'help' | 'isRequired'> & {
  options: readonly Option[];
}) {
  const { name, action, label, isRequired } = props;
  const { value, isInvalid } = enteredIn(props);
  const id = fieldId(action, name);
  useLabel(name, label);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        name={name}
        required={isRequired}
        aria-invalid={isInvalid ? 'true' : undefined}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {labelOf(option)}
          </option>
        ))}
      </select>
      {help !== undefined && <small id={`${id}-help`}>{help}</small>}
    </div>
  );
}

function enteredIn({
  context,
  action,
  name,
  value,
}: Pick<FieldProps, 'context' | 'action' | 'name' | 'value'>) {
  const failed = context.failed?.action === action ? context.failed : undefined;
  const entered = failed ?? draftOf(context, action);
  const { param } = failed?.refusal.options ?? {};
  return { value: entered ? entered.form.values(name)[0] : value, isInvalid: isAbout(param, name) };
}

/** Returns true when a parameter of the API, such as `allowedIps[0]`, is a field or a part of it. */
function isAbout(param: string | undefined, name: string): boolean {
  return param === name || param?.startsWith(`${name}[`) === true;
}
