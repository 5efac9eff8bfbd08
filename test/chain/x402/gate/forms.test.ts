import { expect, test } from 'vitest'
import { openGateShop } from '../../support/x402Desk.js'
import { payFor } from '../../support/x402Paid.js'

const shop = await openGateShop()

const formOf = (fields: Readonly<Record<string, string>>) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob(['\r\n--some\r\nbytes\0']), 'a.bin')
  return form
}

const paidForm = () =>
  payFor(shop, 'work', async (request) => {
    const form = await request.formData()
    return new Response(`a picture of ${form.get('of')}`)
  })

const post = (body: BodyInit, type?: string): RequestInit => ({
  method: 'POST',
  body,
  ...(type === undefined ? {} : { headers: { 'content-type': type } }),
})

test('a form that is sent again with another boundary is the same form', async () => {
  const paid = await paidForm()
  const send = (of: string) => paid.send(post(formOf({ of, size: 'large' })))
  const first = await send('Ulm')
  const again = await send('Ulm')
  expect([first.status, again.status]).toEqual([200, 200])
  expect(await again.text()).toBe('a picture of Ulm')
  expect((await send('Bonn')).status).toBe(402)
})

test.each([
  ['has no end', '--b\r\n\r\none\r\n'],
  ['has a preamble', 'x\r\n--b\r\n\r\none\r\n--b--'],
  ['has text after its end', '--b\r\n\r\none\r\n--b--\r\nx'],
  ['has a longer boundary within', '--b\r\n\r\none\r\n--bb\r\n\r\n\r\n--b--'],
  ['is empty', ''],
])('a form that %s counts by its bytes', async (_, body) => {
  const paid = await payFor(shop, 'work', () => new Response('goods'))
  const type = (boundary: string) => `multipart/form-data; boundary=${boundary}`
  const send = (text: string, boundary: string) =>
    paid.send(post(text, type(boundary)))
  expect((await send(body, 'b')).status).toBe(200)
  expect((await send(body, 'b')).status).toBe(200)
  expect((await send(`${body} `, 'b')).status).toBe(402)
})

test('a form whose record is bound to its bytes, as earlier versions did, is found by them', async () => {
  const paid = await paidForm()
  const body =
    '--b\r\ncontent-disposition: form-data; name="of"\r\n\r\nUlm\r\n--b--\r\n'
  const type = 'multipart/form-data; boundary="b"'
  // Under a content type that is none of a form, the bytes count.
  const plain = await payFor(shop, 'work', () => new Response('goods'))
  expect((await plain.send(post(body, 'text/plain'))).status).toBe(200)
  expect((await plain.send(post(body, type))).status).toBe(200)
  expect((await paid.send(post(body, type))).status).toBe(200)
  expect((await paid.send(post(body, type))).status).toBe(200)
})
