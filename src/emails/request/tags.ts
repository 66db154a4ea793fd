/** Tags (specification 4.1, api.md 1.2): the caller's own words for an email, and how a list is filtered by one. */
import { invalid, readEach } from '../../system/errors.ts';

export type Tag = { key: string; value: string };

/** 1 to 256 characters (api.md 1.2). */
const TAG_TEXT = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** @throws AppError validation_error naming the tag, `tags.campaign`, or `tags` for one whose key is none */
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
 * What `key:value` may mean: both may hold colons, so each of them may be the one between.
 * @throws AppError validation_error
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
