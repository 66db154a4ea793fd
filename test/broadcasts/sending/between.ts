/** Lets something happen between two steps of the work of broadcasts. */
import type { App } from '../../../src/app.ts';

/** Returns the application, and the function that says what happens right before the next write of a name. */
export function createInterruptible(app: App): {
  app: App;
  before(name: string, happen: () => Promise<unknown>): void;
} {
  const db: App['db'] = Object.create(app.db);
  const pending = new Map<string, () => Promise<unknown>>();
  db.commit = async (write, input) => {
    const happen = pending.get(write.name);
    pending.delete(write.name);
    await happen?.();
    return app.db.commit(write, input);
  };
  return { app: { ...app, db }, before: (name, happen) => void pending.set(name, happen) };
}
