/** Posts JSON to the shop's own routes. */
export async function askShop<answer>(
  path: string,
  body: object,
): Promise<answer> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`The shop answered ${response.status}.`)
  return response.json()
}
