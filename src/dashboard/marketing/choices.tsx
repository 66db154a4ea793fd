/** Choices among resources that have names, such as audiences and templates. There may be thousands, of which forms offer the newest. */

import type { Calls, Query } from '../../http/json/calls.ts';
import { invalid } from '../../system/errors.ts';
import { Field, type Option, Select } from '../frame/forms.tsx';
import { FilterField, FilterSelect } from '../frame/lists.tsx';
import type { TenantContext } from '../page.ts';

/** Number of resources that a choice offers. Four choices of long names stay within the 100 kB of a page. */
const MAX_CHOICES = 50;
/** Number of resources that a page of the API has at most, in which the one of a name is looked for. */
const PER_PAGE = 100;
/** Maximum number of pages that are looked through for a name: more than a tenant may have of anything that is chosen by name. */
const MAX_PAGES = 20;

type Named = { id: string; name: string };
export type NamedPage<Item extends Named> = { data: Item[]; hasMore: boolean };

/** Returns the newest resources of a list. */
export async function listNewest<Item extends Named>(
  api: Calls,
  path: string,
  query: Query = {},
): Promise<NamedPage<Item>> {
  return api.get<NamedPage<Item>>(path, { limit: MAX_CHOICES, ...query });
}

/**
 * Maximum number of options that the same choice in each row of a form has together. With more, rows have a field for an id instead, for which
 * the page offers the options once.
 */
const MAX_REPEATED_OPTIONS = 200;

/** Returns true when each of so many rows may have all options of a choice. */
export function fitInRows(options: { length: number }, rows: number): boolean {
  return options.length * rows <= MAX_REPEATED_OPTIONS;
}

/** Maximum number of topics of a tenant (topics/store.ts), all of which are offered. */
export const ALL_TOPICS = { limit: 100 };

/** Returns resources as options of a choice. */
export function optionsOf(items: readonly Named[]): Option[] {
  return items.map(({ id, name }) => ({ value: id, label: name }));
}

type ChoiceProps = {
  context: TenantContext;
  action: string;
  name: string;
  label: string;
  value: string;
  isRequired?: boolean;
  options: readonly Option[];
  /** Label of the choice of nothing. */
  none?: string;
  /** True when there are more than the options. */
  hasMore: boolean;
};

/** A choice of one among all that there are, or, where they are too many, a field for the id or the name that offers the newest. */
export function Choice({ hasMore, none, options, ...field }: ChoiceProps) {
  const { newestOffered } = field.context.texts.frame;
  if (hasMore) return <Field {...field} suggestions={options} help={newestOffered} placeholder={none} />;
  const nothing = none === undefined ? [] : [{ value: '', label: none }];
  return <Select {...field} options={withPresent([...nothing, ...options], field.value)} />;
}

/** The filter of a list by an audience. */
export function AudienceFilter({
  context,
  audiences,
}: {
  context: TenantContext;
  audiences: NamedPage<Named>;
}) {
  const field = { context, name: 'audienceId', label: context.texts.segments.filterByAudience };
  const options = optionsOf(audiences.data);
  if (audiences.hasMore) return <FilterField {...field} suggestions={options} />;
  return <FilterSelect {...field} options={options} />;
}

/** Adds a value that is not offered, so that saving does not change it. */
function withPresent(options: Option[], value: string): Option[] {
  if (value === '' || options.some((option) => option.value === value)) return options;
  return [{ value, label: value }, ...options];
}

/** A list of the API, with the query that finds a name where it has one. */
type Searched = { path: string; prefix: string; query?: (name: string) => Query };

/**
 * Returns the id that the text of a choice names, which is an id or the whole name of a resource; null for an empty text.
 * @throws AppError validation_error
 */
export async function chosenId(
  api: Calls,
  { field, text, lists }: { field: string; text: string; lists: readonly Searched[] },
): Promise<string | null> {
  if (text === '' || lists.some(({ prefix }) => text.startsWith(`${prefix}_`))) return text || null;
  for (const list of lists) {
    const id = await findNamed(api, list, text);
    if (id !== undefined) return id;
  }
  throw invalid(field, `Nothing has the id or the name ${JSON.stringify(text)}`);
}

/** Returns the newest resource with this name. */
async function findNamed(api: Calls, { path, query }: Searched, name: string): Promise<string | undefined> {
  let startingAfter: string | undefined;
  for (let count = 0; count < MAX_PAGES; count++) {
    const page = await api.get<NamedPage<Named>>(path, { limit: PER_PAGE, startingAfter, ...query?.(name) });
    const found = page.data.find((one) => one.name === name);
    if (found || !page.hasMore) return found?.id;
    startingAfter = page.data.at(-1)?.id;
  }
  return undefined;
}
