/** Names of the fields that forms send besides their own. */

/** The action of the form, and behind it that of the button that was pressed. */
export const ACTION_FIELD = '_action';
/** A key that no other form has, with which a form runs once. */
export const ONCE_FIELD = '_once';
/** Marks a form whose fields are kept as a draft. */
export const DRAFT_FIELD = '_draft';

/** Actions that every page with such forms has: to keep what is entered so far, and to forget it. */
export const KEEP_ACTION = 'keepDraft';
export const DISCARD_ACTION = 'discardDraft';

/** Fields that are not what somebody has entered. */
export const OWN_FIELDS: ReadonlySet<string> = new Set([ACTION_FIELD, ONCE_FIELD, DRAFT_FIELD]);
/** Matches the names of fields whose values are secrets. */
export const SECRET_FIELD = /password|secret|token|code|credential/i;

/** Parameter of the query that names what an action has done. It is no filter, and is shown once. */
export const SAID = 'said';
