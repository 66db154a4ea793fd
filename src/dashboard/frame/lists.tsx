/** Tables, with the filters and the pages of lists. All of their state stands in the address of the page. */
import type { ComponentChildren } from 'preact';
import type { Query } from '../../http/json/calls.ts';
import { AppError } from '../../system/errors.ts';
import type { BaseContext, TenantContext } from '../page.ts';
import { labelOf, type Option, Suggestions } from './forms.tsx';
import { useLabel, WithRefusal } from './refusal.tsx';

type Column<Row> = { label: string; cell: (row: Row) => ComponentChildren; isNumeric?: boolean };

type TableProps<Row> = {
  context: BaseContext;
  caption: string;
  /** Id of the table, by which a chart finds its numbers. */
  id?: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Returns what names a row. */
  keyOf: (row: Row) => string;
  /** True for a table to which scripts add rows, which is there also when it is empty. */
  isGrowing?: boolean;
  /** Text in the place of an empty table. */
  empty?: ComponentChildren;
};

/** A table. It scrolls by itself when it is wider than the screen. */
export function Table<Row>({
  context,
  caption,
  columns,
  rows,
  keyOf,
  empty,
  id,
  isGrowing,
}: TableProps<Row>) {
  if (rows.length === 0 && !isGrowing) return <p class="empty">{empty ?? context.texts.frame.nothing}</p>;
  return (
    <section class="wide" tabIndex={0} aria-label={caption}>
      <table id={id}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ label, isNumeric }) => (
              <th key={label} scope="col" class={isNumeric ? 'number' : undefined}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ label, cell, isNumeric }) => (
                <td key={label} class={isNumeric ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A long text of a stranger. It scrolls by itself, also by keyboard. */
export function LongText({ label, text }: { label: string; text: string }) {
  return (
    <section class="scroll" tabIndex={0} aria-label={label}>
      <pre dir="auto">{text}</pre>
    </section>
  );
}

/** Parameters of the query that find a page of a list. */
const CURSORS = ['startingAfter', 'endingBefore'];

/** Returns the query of the API for a list: the page that the address names, and the values of its filters. */
export function pageQueryOf(query: URLSearchParams, filters: readonly string[]): Query {
  const values = [...CURSORS, ...filters].map((name) => [name, query.get(name)?.trim() ?? '']);
  return Object.fromEntries(values.filter(([, value]) => value !== ''));
}

type Listing<Page> = {
  page: Page;
  /** Reason why the API refuses the filters, such as an address that is none. The page is then empty. */
  refusal: AppError | undefined;
};

/** Returns the page of a list that the address names. */
export function readList<Page extends { data: readonly unknown[]; hasMore: boolean }>(
  { api, query }: Pick<TenantContext, 'api' | 'query'>,
  path: string,
  filters: readonly string[],
): Promise<Listing<Page>> {
  return readListBy(api, path, pageQueryOf(query, filters));
}

/** Returns the page of a list by its whole query, for filters whose values in the address are not what the API takes, such as days. */
export async function readListBy<Page extends { data: readonly unknown[]; hasMore: boolean }>(
  api: TenantContext['api'],
  path: string,
  query: Query,
): Promise<Listing<Page>> {
  try {
    return { page: await api.get<Page>(path, query), refusal: undefined };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'validation_error') throw error;
    return { page: { data: [], hasMore: false, nextCursor: null } as unknown as Page, refusal: error };
  }
}

/** Returns the page that the address names of a list that is short enough to be read whole, such as the members of a tenant. */
export function pageIn<Row extends { id: string }>(
  rows: readonly Row[],
  query: URLSearchParams,
  size: number,
): { data: readonly Row[]; hasMore: boolean } {
  const at = (name: string) => rows.findIndex(({ id }) => id === query.get(name));
  const end = at('endingBefore');
  if (end > 0) return { data: rows.slice(Math.max(end - size, 0), end), hasMore: end > size };
  const after = at('startingAfter') + 1;
  const start = after < rows.length ? after : 0;
  return { data: rows.slice(start, start + size), hasMore: rows.length > start + size };
}

type PagerProps = {
  context: BaseContext;
  /** The page as the API returns it. */
  page: { data: readonly { id: string }[]; hasMore: boolean };
  /** True for a list whose order is not that of time. */
  isOrdered?: boolean;
};

/** Links to the newer and the older page of a list. Pages are found by ids, so the last one costs as much as the first. */
export function Pager({ context, page: { data, hasMore }, isOrdered }: PagerProps) {
  const { query, path, texts } = context;
  const isBackwards = query.has('endingBefore');
  const isFirst = !query.has('startingAfter') && !(isBackwards && hasMore);
  const hasOlder = isBackwards || hasMore;
  const [first, last] = [data[0]?.id, data.at(-1)?.id];
  if (isFirst && !hasOlder) return null;
  const to = (cursor: Record<string, string>) => {
    const next = new URLSearchParams(query);
    next.delete('startingAfter');
    next.delete('endingBefore');
    for (const [name, value] of Object.entries(cursor)) next.set(name, value);
    return `${path}?${next}`;
  };
  return (
    <nav class="pager" aria-label={texts.frame.pages}>
      {!isFirst && first !== undefined && (
        <a href={to({ endingBefore: first })} rel="prev">
          {isOrdered ? texts.frame.previous : texts.frame.newer}
        </a>
      )}
      {hasOlder && last !== undefined && (
        <a href={to({ startingAfter: last })} rel="next">
          {isOrdered ? texts.frame.next : texts.frame.older}
        </a>
      )}
    </nav>
  );
}

type NextPagerProps = {
  context: BaseContext;
  /** Place behind the page, as the operation returns it; null on the last page. */
  next: string | null;
};

/** Links to the first page of a list, and to the one behind the page that is shown. */
export function NextPager({ context: { path, query, texts }, next }: NextPagerProps) {
  const { frame } = texts;
  const isFirst = !query.has('after');
  if (isFirst && next === null) return null;
  const to = (after: string | null) => {
    const page = new URLSearchParams(query);
    page.delete('after');
    if (after !== null) page.set('after', after);
    return `${path}?${page}`;
  };
  return (
    <nav class="pager" aria-label={frame.pages}>
      {!isFirst && <a href={to(null)}>{frame.firstPage}</a>}
      {next !== null && (
        <a href={to(next)} rel="next">
          {frame.nextPage}
        </a>
      )}
    </nav>
  );
}

/** The fields of a filter, whose values stand in the address of the page. */
export function Filters({
  context,
  refusal,
  children,
}: {
  children: ComponentChildren;
  context: BaseContext;
  refusal?: AppError | undefined;
}) {
  const { texts, path, query } = context;
  return (
    <form method="get" action={path} class="filters" aria-label={texts.frame.filter}>
      <WithRefusal context={context} refusal={refusal}>
        {children}
      </WithRefusal>
      <div class="buttons">
        <button type="submit">{texts.frame.filter}</button>
        {query.size > 0 && <a href={path}>{texts.frame.clearFilters}</a>}
      </div>
    </form>
  );
}

/** A field of a filter. */
export function FilterField({
  context,
  name,
  label,
  type = 'search',
  suggestions,
}: {
  context: BaseContext;
  name: string;
  label: string;
  type?: 'search' | 'date' | 'datetime-local' | 'email';
  /** Values that a browser offers. */
  suggestions?: readonly Option[];
}) {
  useLabel(name, label);
  const list = suggestions && `${name}-suggestions`;
  return (
    <label>
      {label}
      <input
        type={type as 'search'}
        name={name}
        value={context.query.get(name) ?? ''}
        dir="auto"
        list={list}
      />
      {suggestions && list !== undefined && <Suggestions id={list} options={suggestions} />}
    </label>
  );
}

/** A choice of a filter; its empty value matches everything, unless there is a fallback that then holds. */
export function FilterSelect({
  context,
  name,
  label,
  options,
  fallback,
  all = context.texts.frame.all,
}: {
  context: BaseContext;
  name: string;
  label: string;
  options: readonly Option[];
  fallback?: string;
  /** Text of the empty value. */
  all?: string;
}) {
  const value = context.query.get(name) || fallback;
  useLabel(name, label);
  return (
    <label>
      {label}
      <select name={name}>
        {fallback === undefined && <option value="">{all}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {labelOf(option)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Maximum number of things that a filter offers by their names. */
export const MAX_OFFERED = 100;

/**
 * A filter by something that has an id: a choice of names while there are few of them. Among many, the id is entered, or comes with a link from
 * the page of the thing.
 */
export function FilterById({
  things,
  idLabel,
  ...filter
}: {
  context: BaseContext;
  name: string;
  label: string;
  /** Label of the field for the id. */
  idLabel: string;
  /** The things with their names; undefined when there are too many, or when the person does not see them. */
  things: readonly Option[] | undefined;
}) {
  if (!things) return <FilterField {...filter} label={idLabel} />;
  const asked = filter.context.query.get(filter.name) ?? '';
  const isKnown = asked === '' || things.some(({ value }) => value === asked);
  const options = isKnown ? things : [...things, { value: asked, label: asked }];
  return <FilterSelect {...filter} options={options} />;
}
