/** The query of a list that is continued (continued.ts). It stands by itself, because threads read lists and check no requests. */
import { Type } from 'typebox';

/** Maximum number of items in an answer, and the number without `limit`. */
const MAX_ITEMS = 1_000;
export const DEFAULT_ITEMS = 100;
/** Maximum length of the name of a place, such as the path of a file. */
const MAX_PLACE_CHARACTERS = 4_000;

export const continuedQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ITEMS })),
  after: Type.Optional(Type.String({ maxLength: MAX_PLACE_CHARACTERS })),
};
