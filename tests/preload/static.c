/* SPDX-License-Identifier: BSD-2-Clause */
/* Linked statically: no library is preloaded into it. */
int main(void)
{
	return 0;
}
