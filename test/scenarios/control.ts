/** Sends requests to the control socket of a daemon in this process. */
import assert from 'node:assert/strict';
import { Client } from 'undici';
import { controlSocketPath } from '../../src/control-socket.ts';
import type { Daemon } from '../../src/main.ts';

/** Returns what sends requests, each over a connection of its own. */
export function controlOf({ app }: Daemon) {
  return {
    async request<Answer>(method: 'GET' | 'POST', path: string): Promise<Answer> {
      const socket = controlSocketPath(app.config.dataDir);
      const client = new Client('http://localhost', { socketPath: socket.path });
      try {
        const { statusCode, body } = await client.request({ method, path });
        const answer = await body.text();
        assert.ok(statusCode < 400, `${method} ${path}: ${answer}`);
        return JSON.parse(answer) as Answer;
      } finally {
        await client.close();
        socket.release();
      }
    },
  };
}
