/** Packages that are not bundled into `dist/`: a database driver with native code, and files that the API reference serves. */
export const EXTERNAL_PACKAGES = ['better-sqlite3', 'swagger-ui-dist'];
