/** Reads tags (specification 4.1), which are the caller's own labels of an email, and the filter by tag. */

import { readEach } from '../../http/json/read-fields.ts';
import { invalid } from '../../system/errors.ts';

export type Tag = { key: string; value: string };

/** A key or a value has 1 to 256 characters. */
const TAG_TEXT = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/**
 * Returns the tags of a request.
 * @throws AppError validation_error naming the tag, for example `tags.campaign`, or `tags` for an invalid key
 */
export function readTags(tags: Readonly<Record<string, string>> | undefined): Tag[] {
  return readEach(Object.entries(tags ?? {}), ([key, value]) => {
    if (!TAG_TEXT.test(key))
      throw invalid('tags', 'The key of a tag must be 1 to 256 characters, none of them a control character');
    if (!TAG_TEXT.test(value))
      throw invalid(
        `tags.${key}`,
        `\`tags.${key}\` must be 1 to 256 characters, none of them a control character`,
      );
    return { key, value };
  });
}

/**
 * Returns every possible meaning of `key:value`. Keys and values may contain colons, so any colon may be the
 * separator.
 * @throws AppError validation_error when no reading is a valid tag
 */
export function readTagFilter(text: string): Tag[] {
  const tags: Tag[] = [];
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    const tag = { key: text.slice(0, colon), value: text.slice(colon + 1) };
    if (TAG_TEXT.test(tag.key) && TAG_TEXT.test(tag.value)) tags.push(tag);
  }
  if (tags.length === 0) throw invalid('tag', '`tag` must be a key and a value such as campaign:spring');
  return tags;
}
