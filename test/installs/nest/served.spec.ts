// What our recipe for NestJS promises. Its types are those of the project.
import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { mount, PaymentsWorker } from './payments'

const waits = (signal: AbortSignal) =>
  once(signal, 'abort').then(() => undefined)

it('hands the whole request over, and ends the worker with the app', async () => {
  const done: string[] = []
  const worker = new PaymentsWorker({
    run: ({ signal }) => waits(signal).then(() => void done.push('run')),
    close: async () => void done.push('close'),
  })
  class App {}
  Module({ providers: [{ provide: PaymentsWorker, useValue: worker }] })(App)
  const app = await NestFactory.create(App, { logger: false })
  mount(app, async (request) =>
    Response.json({ path: request.url, body: await request.text() }),
  )
  await app.listen(0, '127.0.0.1')

  const url = `${await app.getUrl()}/payments/orders/one/payment`
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: '{"a":1}',
  })
  const { path, body } = await response.json()
  equal(new URL(path).pathname, '/payments/orders/one/payment')
  equal(body, '{"a":1}')

  await app.close()
  deepEqual(done, ['run', 'close'])
})
