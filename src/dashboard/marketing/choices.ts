/** Resources that forms offer for a choice: audiences, segments, topics and templates, by their names. */
import type { Calls, Query } from '../calls.ts';
import type { Option } from '../frame/forms.tsx';

/** Number of resources that a choice offers: the largest page of a list. */
const MAX_CHOICES = 100;

type Named = { id: string; name: string };
type NamedPage<Item extends Named> = { data: Item[]; hasMore: boolean };

/** Returns the newest resources of a list. */
export async function listNewest<Item extends Named>(
  api: Calls,
  path: string,
  query: Query = {},
): Promise<NamedPage<Item>> {
  return api.get<NamedPage<Item>>(path, { ...query, limit: MAX_CHOICES });
}

/** Returns resources as options of a choice. */
export function optionsOf(items: readonly Named[]): Option[] {
  return items.map(({ id, name }) => ({ value: id, label: name }));
}
