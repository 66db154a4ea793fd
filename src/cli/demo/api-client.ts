/** The demo's customer: calls the HTTP API with a key, as any program would. */
import { request } from 'undici';

export type ApiClient = {
  /** @throws Error with the problem the API answered */
  post<Answer>(path: string, body?: object): Promise<Answer>;
};

export function createApiClient(address: string, key: string): ApiClient {
  return {
    async post<Answer>(path: string, body: object = {}) {
      const response = await request(`${address}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.body.text();
      if (response.statusCode >= 400) throw new Error(`POST ${path}: ${response.statusCode} ${text}`);
      return JSON.parse(text) as Answer;
    },
  };
}
