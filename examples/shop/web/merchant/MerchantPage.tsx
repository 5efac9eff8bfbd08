export function MerchantPage() {
  return <main>merchant</main>
}
