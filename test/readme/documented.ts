/** Whether an answer is the one that is documented: what is shown of it must be there; there may be more. */

/** Stands for any text that is not empty. */
const ANY_TEXT = '…';

/** Where they differ, such as `recipients[1].status: "bounced", not "delivered"`; undefined when they do not. */
export function findDifference(documented: unknown, actual: unknown, path = ''): string | undefined {
  if (Array.isArray(documented) && Array.isArray(actual)) {
    return first(documented, (item, index) => findDifference(item, actual[index], `${path}[${index}]`));
  }
  if (isObject(documented) && isObject(actual)) {
    return first(Object.keys(documented), (name) =>
      findDifference(documented[name], actual[name], path === '' ? name : `${path}.${name}`),
    );
  }
  if (typeof documented === 'string' && typeof actual === 'string' && isLike(documented, actual))
    return undefined;
  if (documented === actual) return undefined;
  return `${path}: ${JSON.stringify(actual)}, not ${JSON.stringify(documented)}`;
}

function first<Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isLike(documented: string, actual: string): boolean {
  const parts = documented.split(ANY_TEXT).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('.+')}$`, 's').test(actual);
}
