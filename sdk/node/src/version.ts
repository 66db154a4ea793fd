/** Version of the package, which every request names. */
export const VERSION = '0.1.0';
