import { AcceleratorError, loadAccelerator } from 'countersign/accelerate'
import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.doUnmock('ox/wasm/Hash')
  vi.resetModules()
  vi.restoreAllMocks()
})

test('a missing ox is named in a typed error', async () => {
  vi.doMock('ox/wasm/Hash', () => {
    throw new Error('Cannot find package')
  })
  const error = await loadAccelerator().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(AcceleratorError)
  expect(error).toMatchObject({ retryable: false })
  expect(String(error)).toContain(
    'The accelerator needs the package ox, version 1.8 or later, which is not installed: run npm install ox.',
  )
})

test('a runtime that forbids WebAssembly is named in a typed error, and the next call tries again', async () => {
  vi.spyOn(WebAssembly, 'compile').mockRejectedValue(
    new WebAssembly.CompileError('blocked by Content Security Policy'),
  )
  const error = await loadAccelerator().catch((error: unknown) => error)
  expect(error).toBeInstanceOf(AcceleratorError)
  expect(String(error)).toContain("'wasm-unsafe-eval'")

  vi.restoreAllMocks()
  vi.resetModules()
  expect(await loadAccelerator()).toMatchObject({
    fastAccount: expect.any(Function),
    recoverAddress: expect.any(Function),
    keccak256: expect.any(Function),
  })
})
