/**
 * Packages that are not bundled into `dist/`: a database driver with native code, files that the API reference serves, and a decoder of images that
 * reads its WebAssembly from a file beside it.
 */
export const EXTERNAL_PACKAGES = ['better-sqlite3', 'swagger-ui-dist', '@silvia-odwyer/photon-node'];
