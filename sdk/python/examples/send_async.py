"""Send ten emails at the same time, and list the newest."""

import asyncio

from postrider import AsyncClient


async def main() -> None:
    async with AsyncClient() as client:
        emails = [
            client.emails.send(
                from_="hello@sandbox.localhost",
                to=[f"delivered+{number}@simulator.localhost"],
                subject=f"Hello {number}",
                text="It works.",
                type="transactional",
            )
            for number in range(10)
        ]
        for sent in await asyncio.gather(*emails):
            print(sent.id)
        page = await client.emails.list(limit=3)
        print([email.subject for email in page.data])


asyncio.run(main())
