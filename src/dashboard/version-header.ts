/**
 * Names the version of the program that made a page. Scripts send it with forms, and find it in each answer, so that a page of an older version
 * is not used with a newer program.
 */
export const VERSION_HEADER = 'x-dashboard-version';
